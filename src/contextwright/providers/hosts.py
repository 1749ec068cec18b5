"""The address and API of each provider, and the source of its key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from contextwright.errors import ProviderError, UsageError, require, shown
from contextwright.models import as_model
from contextwright.text.utf8 import is_utf8
from contextwright.wire.values import is_object

__all__ = [
    "HOSTS",
    "Host",
    "body_for",
    "checked_key",
    "headers_for",
    "host_for",
    "key_for",
    "redirected",
    "url_for",
]

ANTHROPIC_VERSION = "2023-06-01"
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
GOOGLE = "https://generativelanguage.googleapis.com"


class Host(Struct, frozen=True):
    """A provider's address: base URL, API format, and the variable with its key."""

    name: str
    format: str
    base_url: str
    key_variable: str | None = None
    """The environment variable with the key; None if the host needs none."""
    address_variable: str | None = None
    """The environment variable in which the provider's own SDKs look for another address."""


HOSTS: dict[str, Host] = {
    host.name: host
    for host in (
        Host("openai", "openai-chat", OPENAI, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        Host("openai-responses", "openai-responses", OPENAI, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        Host("anthropic", "anthropic", ANTHROPIC, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        Host("gemini", "gemini", f"{GOOGLE}/v1beta", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        Host("openrouter", "openai-chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        Host("deepseek", "openai-chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        Host("mistral", "openai-chat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        Host("groq", "openai-chat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        Host("ollama", "openai-chat", "http://127.0.0.1:11434/v1"),
    )
}
"""Known hosts. For any other that speaks one of the four APIs, use `Host(name, format, base_url,
…)`.
"""
BY_FORMAT = {
    "openai-chat": "openai",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


def host_for(target: str | Host, base_url: str | None = None) -> Host:
    """Return the host for the name of a host, format or model; `base_url` replaces its address.

    Raises:
        UsageError: the name is unknown, or the address is not a valid HTTP address.
    """
    require(target, str | Host, "a host", f"name one of: {', '.join(HOSTS)}")
    if base_url is not None:
        require_address(base_url)
    host = target if isinstance(target, Host) else HOSTS.get(target)
    if host is None and isinstance(target, str):
        name = BY_FORMAT.get(target)
        if name is None:
            facts = as_model(target)
            known = facts.provider in ("openai", "anthropic", "google")
            name = BY_FORMAT[facts.format] if known else facts.provider
        host = HOSTS.get(name)
        if host is None and base_url is not None:
            host = Host(name, "openai-chat", base_url)
    if host is None:
        known = ", ".join(HOSTS)
        raise UsageError(f"no host is known for {target!r}", hint=f"name one of: {known}")
    return host if base_url is None else msgspec.structs.replace(host, base_url=base_url)


def require_address(base_url: str) -> None:
    """Require an HTTP address to which a path can be added, so one without `?` and `#`.

    Raises:
        UsageError: the address is not one.
    """
    require(base_url, str, "the address of a host")
    try:
        parts = urlsplit(base_url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname)
        can_be_called = is_http and parts.port != 0  # raises if the port is not a number
    except ValueError:
        can_be_called = False
    if not can_be_called or "?" in base_url or "#" in base_url:
        raise UsageError(
            f"{shown(base_url)} is not the address of an API", hint="write it like https://host/v1"
        )


def redirected(host: Host, environment: Mapping[str, str] | None = None) -> Host:
    """Return the host at the address that the environment names for it, if it names one."""
    given = os.environ if environment is None else environment
    address = given.get(host.address_variable or "", "").strip().rstrip("/")
    if not address:
        return host
    # Google's SDKs add the version; those of others leave it to the variable, or to the path.
    ending = "/v1beta" if host.format == "gemini" else ""
    return msgspec.structs.replace(host, base_url=address + ending)


def key_for(host: Host, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the key of a host from the environment; None if the host needs none.

    Raises:
        ProviderError: the variable is not set.
    """
    if host.key_variable is None:
        return None
    key = (os.environ if environment is None else environment).get(host.key_variable, "").strip()
    if not key:
        raise ProviderError(
            f"no key for {host.name}", kind="authentication", hint=f"set {host.key_variable}"
        )
    return key


def checked_key(key: str | None, host: Host) -> str | None:
    """Return a key without the blanks around it, such as the end of a line in a file.

    Raises:
        UsageError: it is not text that a header can hold. The error does not show it.
    """
    if key is None:
        return None
    if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a key is text, not a value of type {type(key).__name__}")
    key = key.strip()
    if not key.isprintable() or not is_utf8(key):
        hint = "copy it again, without line ends and control characters"
        raise UsageError(f"the key for {host.name} cannot be sent", hint=hint)
    return key


def headers_for(host: Host, key: str | None) -> dict[str, str]:
    """Return the headers of a request. The key is only here, never in a URL."""
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    if host.format == "anthropic":
        headers["anthropic-version"] = ANTHROPIC_VERSION
    if key:
        name, value = {
            "anthropic": ("x-api-key", key),
            "gemini": ("x-goog-api-key", key),
        }.get(host.format, ("authorization", f"Bearer {key}"))
        headers[name] = value
    return headers


def url_for(host: Host, model: str) -> str:
    """Return the URL for a streamed reply; Gemini names the model there."""
    base = host.base_url.rstrip("/")
    match host.format:
        case "anthropic":
            return f"{base.removesuffix('/v1')}/v1/messages"
        case "gemini":
            name = quote(model.removeprefix("models/"), safe="")
            return f"{base}/models/{name}:streamGenerateContent?alt=sse"
        case "openai-responses":
            return f"{base}/responses"
        case _:
            return f"{base}/chat/completions"


def body_for(host: Host, payload: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the payload as a request for a stream; chat also has to ask for its usage.

    Claude streams no answer to a request that only fills the cache.
    """
    body = dict(payload)
    if host.format == "gemini":
        body.pop("model", None)
        return body
    body["model"] = model
    if host.format == "anthropic" and body.get("max_tokens") == 0:
        return body
    body["stream"] = True
    if host.format == "openai-chat":
        options = body.get("stream_options")
        given = options if is_object(options) else {}
        body["stream_options"] = {"include_usage": True, **given}
    return body

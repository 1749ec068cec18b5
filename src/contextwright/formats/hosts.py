"""Settings that only some hosts of Chat Completions read, in the words of `Settings`.

OpenAI has one setting for thinking; other hosts have a switch, a budget or an effort, each in its
own place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, get_args

from contextwright.messages.conversation import Effort
from contextwright.wire.values import Object

__all__ = ["EFFORTS", "FREE", "HOSTS", "THINKING", "known_effort", "read_hosts"]

Read: TypeAlias = Callable[[Any], Object]
"""Returns the settings that a value asks for; none if it is not a value of this field."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)
FREE = -1
"""The thinking budget that lets the model decide."""


def known_effort(value: Any) -> Effort | None:
    """Return the value if it is a known effort."""
    return value if isinstance(value, str) and value in EFFORTS else None


def as_number(name: str) -> Read:
    return lambda value: {name: value} if type(value) is int else {}


def as_top_k(value: Any) -> Object:
    return {"top_k": value} if type(value) is int and value > 0 else {}


def as_effort(value: Any) -> Object:
    return {"effort": value} if known_effort(value) else {}


def as_level(value: Any) -> Object:
    return as_effort(value.lower()) if isinstance(value, str) else {}


def as_switch(value: Any) -> Object:
    if not isinstance(value, bool):
        return as_effort(value)  # Ollama's takes both
    return {"thinking_budget": FREE} if value else {"effort": "none"}


def as_mode(value: Any) -> Object:
    match value:
        case {"type": "enabled", "budget_tokens": budget}:
            return {"thinking_budget": budget} if type(budget) is int else {}
        case {"type": "enabled" | "adaptive" | "auto"}:
            return {"thinking_budget": FREE}
        case {"type": "disabled"}:
            return {"effort": "none"}
        case _:
            return {}


def as_shown(value: Any) -> Object:
    return {"show_thinking": value} if isinstance(value, bool) else {}


def as_hidden(value: Any) -> Object:
    return {"show_thinking": not value} if isinstance(value, bool) else {}


THINKING: dict[str, Read] = {
    "reasoning_effort": as_effort,
    "reasoning.effort": as_effort,  # OpenRouter
    "reasoning.max_tokens": as_number("thinking_budget"),
    "reasoning.enabled": as_switch,
    "reasoning.exclude": as_hidden,
    "include_reasoning": as_shown,
    "thinking": as_mode,  # Anthropic, LiteLLM, DeepSeek, Z.ai, Moonshot
    "thinking_budget": as_number("thinking_budget"),  # Qwen
    "enable_thinking": as_switch,
    "chat_template_kwargs.enable_thinking": as_switch,  # vLLM, SGLang, llama.cpp
    "chat_template_kwargs.thinking": as_switch,
    "think": as_switch,  # Ollama
    "extra_body.google.thinking_config.thinking_level": as_level,  # Gemini
    "extra_body.google.thinking_config.thinking_budget": as_number("thinking_budget"),
    "extra_body.google.thinking_config.include_thoughts": as_shown,
}
"""How hosts ask for thinking; the first that is given counts."""
HOSTS: dict[str, Read] = {
    **THINKING,
    "top_k": as_top_k,
    "random_seed": as_number("seed"),  # Mistral
}
"""All settings that are read here, by their paths."""


def read_hosts(fields: Object) -> Object:
    """Read the settings of every host, from the fields of a body by path."""
    found: Object = {}
    for path in (path for path in HOSTS if path in fields):
        asked = HOSTS[path](fields[path])
        if asked.get("effort") == "none":  # off, whatever else is set
            found["effort"] = "none"
        found = {**asked, **found}
    if found.get("effort") == "none":
        found.pop("thinking_budget", None)
    return found

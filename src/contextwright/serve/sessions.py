"""Which session a request belongs to, and which program sent it, by what clients say of it."""

from __future__ import annotations

import re
from hashlib import blake2b

from contextwright.serve.calls import Call, value_of
from contextwright.text.json import decode_object
from contextwright.wire.values import is_object

__all__ = ["agent_of", "client_of", "digest_of", "session_of"]

SESSION_HEADERS = (
    "x-claude-code-session-id",
    "thread-id",  # Codex: a thread of a session
    "session-id",
    "x-session-id",  # opencode
    "session_id",  # pi
)
AGENT_HEADER = "x-claude-code-agent-id"
CLAUDE_CODE = "claude-cli"
NAMES = {
    CLAUDE_CODE: "claude-code",
    "codex_exec": "codex",
    "codex_cli_rs": "codex",
    "codex-tui": "codex",
    "GeminiCLI-tui": "gemini-cli",
    "GeminiCLI": "gemini-cli",
    "QwenCode": "qwen-code",
    "AsyncAnthropic": "anthropic",
    "AsyncOpenAI": "openai",
}
"""The names that programs give themselves, where they differ from ours."""
AGENT = re.compile(
    r"([A-Za-z][\w.-]{0,39})(?![\w.-])(?:/(?:(?:Python|JS) )?([\w.+-]{1,40})(?![\w.+-]))?"
)
"""The vendors' SDKs put their language before the version: `OpenAI/Python 3.49.0`. What is longer
is no name, and its beginning may be that of a key.
"""
MINIFIED = re.compile(r"[\w$]{1,3}/JS ([\w.+-]{1,40})(?![\w.+-])", re.ASCII)
"""An SDK in a bundle that has renamed its classes: `ls/JS 5.23.2`."""
VENDORS = {"openai-chat": "openai", "openai-responses": "openai", "anthropic": "anthropic"}
"""Whose SDK it is, by the API that it speaks."""
PLAIN = re.compile(r"[\w.:-]{1,100}", re.ASCII).fullmatch


def session_of(call: Call) -> str:
    """Return the session that a client names; empty if it names none."""
    for name in SESSION_HEADERS:
        if value := call.headers.get(name, "").strip():
            return plain(value)
    metadata = value_of(call.fields, "metadata")
    named = metadata.get("user_id") if is_object(metadata) else None
    if not isinstance(named, str):
        return ""
    session = named.partition("_session_")[2]  # Claude Code before 2.1: `user_…_session_…`
    if named.startswith("{"):
        session = (decode_object(named) or {}).get("session_id")
    return plain(session) if isinstance(session, str) and session else ""


def agent_of(call: Call) -> str:
    """Return the agent of a session that a request is from; empty for the session itself."""
    return call.headers.get(AGENT_HEADER, "").strip()


def plain(session: str) -> str:
    """Return a session as part of a name; the digest of one that is not plain text."""
    if PLAIN(session):
        return session
    return blake2b(session.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def client_of(call: Call) -> str:
    """Return the name and version of a program, such as `claude-code/2.1.325`; empty if unknown."""
    agent = call.headers.get("user-agent", "")
    if (found := MINIFIED.match(agent)) is not None and call.format in VENDORS:
        return f"{VENDORS[call.format]}/{found[1]}"
    found = AGENT.match(agent)
    if found is None:
        return ""
    name = NAMES.get(found[1], found[1].lower())
    if found[1] == CLAUDE_CODE and not session_of(call):
        name = CLAUDE_CODE  # others borrow the name, such as Qwen Code, but not the session
    return f"{name}/{found[2]}" if found[2] else name


def digest_of(key: str) -> str:
    """Return a name for the client with a key, which does not reveal it."""
    return blake2b(key.encode(), digest_size=16).hexdigest()

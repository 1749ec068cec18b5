"""Claude Agent SDK (`pip install claude-agent-sdk`): transcripts in a store, for any machine.

sessions = StoreSessions(cw.AsyncStore("chat.db"))
options = ClaudeAgentOptions(session_store=sessions, resume=session_id)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from msgspec.structs import replace

from contextwright.errors import Conflict, ParseError, require
from contextwright.formats.api import parse
from contextwright.integrations.originals import kept_original, with_original
from contextwright.integrations.trimming import joined
from contextwright.messages.message import Message
from contextwright.store.async_store import AsyncStore

__all__ = ["StoreSessions"]

NAME = "claude_agent"


class StoreSessions:
    """The session store of the SDK: each transcript is a conversation, each entry a message.

    Entries come back exactly as they were appended. What people, models and tools said can be read,
    searched and recalled like every conversation; other entries (titles, marks) are internal. The
    conversation of a session is `PROJECT/SESSION`, that of a subagent `PROJECT/SESSION/SUBPATH`,
    each part percent-encoded.
    """

    def __init__(self, store: AsyncStore) -> None:
        self.store = store

    async def append(self, key: Mapping[str, str], entries: Sequence[Mapping[str, Any]]) -> None:
        """Add entries in order; one whose `uuid` is there already is left out."""
        chat = self.store.conversation(conversation_of(key))
        for entry in entries:
            require(entry, Mapping, "an entry of a session", "a JSON object")
            id = entry.get("uuid")
            message = with_original(message_of(entry), NAME, dict(entry))
            try:
                await chat.add(message, key=id if isinstance(id, str) and id else None)
            except Conflict:
                continue  # the first entry with an id stays, as the SDK expects

    async def load(self, key: Mapping[str, str]) -> list[dict[str, Any]] | None:
        """Return all entries of a session, in order; None if there is none."""
        chat = self.store.conversation(conversation_of(key))
        entries = [
            entry
            async for stored in chat.read()
            if (entry := kept_original(stored.message, NAME)) is not None
        ]
        return entries or None

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Return the sessions of a project, with the time of their last entry in milliseconds."""
        return [
            {"session_id": parts[1], "mtime": await self._changed(id)}
            async for id, parts in self._conversations()
            if parts[0] == project_key and len(parts) == 2
        ]

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        """Return the subagents of a session."""
        wanted = [key["project_key"], key["session_id"]]
        return [
            parts[2]
            async for _, parts in self._conversations()
            if parts[:2] == wanted and len(parts) == 3
        ]

    async def delete(self, key: Mapping[str, str]) -> None:
        """Remove a session with its subagents, or one subagent, permanently."""
        wanted = parts_of(conversation_of(key))
        doomed = [id async for id, parts in self._conversations() if parts[: len(wanted)] == wanted]
        for id in doomed:
            await self.store.forget(id)

    async def _conversations(self) -> AsyncIterator[tuple[str, list[str]]]:
        """Iterate over what may be a session: its id, and the parts of that."""
        async for info in self.store.list():
            parts = parts_of(info.id)
            if 2 <= len(parts) <= 3 and info.length:
                yield info.id, parts

    async def _changed(self, id: str) -> int:
        """Return when the last entry of a conversation was stored, in milliseconds."""
        newest = await self.store.conversation(id).tail(1)
        times = [one.stored_at for one in newest if one.stored_at]
        return round(datetime.fromisoformat(times[-1]).timestamp() * 1_000) if times else 0


def conversation_of(key: Mapping[str, str]) -> str:
    """Return the id of the conversation that has a session or subagent."""
    parts = [key["project_key"], key["session_id"]]
    if "subpath" in key:
        parts.append(key["subpath"])
    return "/".join(quote(part, safe="") for part in parts)


def parts_of(id: str) -> list[str]:
    """Return project, session and subagent of a conversation's id."""
    return [unquote(part) for part in id.split("/")]


def message_of(entry: Mapping[str, Any]) -> Message:
    """Return an entry as ours; what nobody said, or cannot be read, is an internal event."""
    event = Message("system", kind="event", visibility="internal")
    message = entry.get("message")
    if entry.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return event
    try:
        read = parse({"messages": [message]}, "anthropic").messages
    except ParseError:
        return event
    sent = entry.get("timestamp")
    return replace(joined(read), sent_at=sent if isinstance(sent, str) else None) if read else event

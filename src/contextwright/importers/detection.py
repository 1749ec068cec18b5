"""Detection of a file's source by its content; if it is not certain, there is no guess."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import Any

from contextwright import formats
from contextwright.documents.files import Files, OneFile
from contextwright.documents.stream import Document
from contextwright.errors import ParseError, require
from contextwright.formats.file_formats import (
    is_aya_entry,
    is_forge_result,
    is_gryag,
    is_gryag_payload,
    is_ours,
    is_session,
)
from contextwright.formats.gryag.compact import MOST_LOOKED_AT, is_compact
from contextwright.importers.base import NAMES
from contextwright.importers.sources.any_format import (
    ENDINGS,
    is_lines,
    is_message,
    read_compact_text,
)
from contextwright.importers.sources.slack import DAY
from contextwright.wire.anthropic import types as anthropic
from contextwright.wire.openai_chat import types as openai_chat
from contextwright.wire.values import is_list, is_object

__all__ = ["detect", "detect_document", "format_of", "is_log"]

CLAUDE_BLOCKS = (
    *("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"),
    *("server_tool_use", "mcp_tool_use", "container_upload", "search_result", "compaction"),
)
CLAUDE_FIELDS = {*anthropic.Request.__struct_fields__} - {
    *openai_chat.Request.__struct_fields__,
    *("top_k", "thinking"),  # many hosts of OpenAI's API take these too
}
OPENAI_FIELDS = {*openai_chat.Request.__struct_fields__} - {*anthropic.Request.__struct_fields__}
OPENAI_BLOCKS = ("image_url", "input_audio", "file", "refusal")
CHATML_MEDIA = ("image", "audio", "video")
OPENAI_ROLES = ("developer", "tool", "function")
LOG_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
TELEGRAM = ("chats", "left_chats", "personal_information", "frequent_contacts")
PLAIN_ROLES = ("system", "user", "assistant")
"""Roles whose text several formats write alike."""
MAX_INSPECTED = 50
"""Maximum number of messages, or of files of a folder, to inspect for their source."""


def detect(files: Files) -> str:
    """Return the name of the source that a path holds.

    Raises:
        ParseError: the source is not certain, or the file is not JSON.
    """
    require(files, Files, "files", "open_files opens them")
    name = detect_by_names(files)
    if name is not None:
        return name
    candidates = files.names if isinstance(files, OneFile) else files.ending(*ENDINGS)
    if not candidates:
        raise unsure(files.label, "it contains no JSON")
    first: ParseError | None = None
    for file in candidates[:MAX_INSPECTED]:  # a folder may begin with an index, or an empty file
        try:
            return detect_by_content(files, file)
        except ParseError as error:
            first = first or (error if error.file else error.within(file=files.shown(file)))
    assert first is not None
    raise first


def detect_by_content(files: Files, file: str) -> str:
    """Detect the source of one file by its content."""
    if read_compact_text(files, file) is not None:
        return "gryag"
    return (
        detect_by_lines(files, file) if is_lines(files, file) else detect_by_document(files, file)
    )


def detect_document(data: Any) -> str | None:
    """Return the source of one decoded document; None if its content does not show it."""
    if isinstance(data, str):
        return "gryag" if is_compact(data[:MOST_LOOKED_AT].encode("utf-8", "replace")) else None
    if is_list(data):
        return detect_by_entries(data[:MAX_INSPECTED])
    return detect_by_fields(data) if is_object(data) else None


def format_of(data: Any) -> str:
    """Return the format of one decoded document.

    Raises:
        ParseError: the content does not show it, or it is an export of several conversations.
    """
    found = detect_document(data)
    if found is None:
        known = ", ".join(formats.NAMES)
        raise ParseError("the format cannot be detected", hint=f"name it with --from: {known}")
    if found not in formats.NAMES:
        raise ParseError(f"this is an export of {found}", hint="cw import stores it")
    return found


def detect_by_names(files: Files) -> str | None:
    """Detect the source by the names in a folder or zip; conversations have to be opened."""
    if isinstance(files, OneFile):
        return None
    names = [name.rpartition("/")[2] for name in files.names]
    conversations = [
        name
        for name, end in zip(files.names, names, strict=True)
        if end.startswith("conversations")
    ]
    if conversations:
        return detect_by_document(files, conversations[0])
    if "users.json" in names and any(DAY.fullmatch(name) for name in names):
        return "slack"
    return "telegram" if "result.json" in names else None


def detect_by_lines(files: Files, file: str) -> str:
    """Detect the source by the first lines: a log, messages, or conversations."""
    lines = (value for _, value in files.lines(file))
    first = next(lines)
    some = chain([first], islice(lines, MAX_INSPECTED - 1))
    if is_message(first):
        found = detect_by_entries(list(some)) or detect_by_fields(first)
    elif is_object(first) and (agent := detect_by_log_line(first)):
        found = agent
    elif is_object(first) and "preferred_output" in first:
        found = "openai-finetuning"
    else:
        found = detect_by_conversations(some)
        found = "openai-finetuning" if found == "openai-chat" else found
    if found is None:
        raise unsure(files.shown(file), "its lines match no known source")
    return found


def detect_by_conversations(conversations: Iterable[Any]) -> str | None:
    """Detect the source of conversations: of the first that is certain, else of the first."""
    guess: str | None = None
    for conversation in conversations:
        found = detect_document(conversation)
        if found is not None and not is_plain(conversation, found):
            return found
        guess = guess or found
    return guess


def is_plain(conversation: Any, found: str) -> bool:
    """Whether a conversation is written alike in other formats than the one found."""
    if found == "gemini":
        return is_list(conversation)  # gryag's too
    messages = objects_of(conversation if is_list(conversation) else conversation.get("messages"))
    return found == "openai-chat" and all(
        one["role"] in PLAIN_ROLES
        and "tool_calls" not in one
        and all(block.get("type") == "text" for block in objects_of(one.get("content")))
        for one in messages
    )


def detect_by_log_line(line: dict[str, Any]) -> str | None:
    """Detect the agent that wrote a line of a log."""
    if line.get("type") in LOG_LINES or ("instructions" in line and "id" in line):
        return "codex"
    is_claude_code = "sessionId" in line or "leafUuid" in line or "snapshot" in line
    return "claude-code" if is_claude_code else None


def is_log(lines: Iterable[tuple[int, Any]]) -> bool:
    """Whether the lines of a file make up one conversation: an agent's log, or messages."""
    first = next((value for _, value in lines), None)
    return is_object(first) and (is_message(first) or detect_by_log_line(first) is not None)


def detect_by_document(files: Files, file: str) -> str:
    """Detect the source of a document: by its first entries if it is a list, else by its fields."""
    with files.open(file) as stream:
        document = Document(stream, mend=files.mend)
        if document.peek() == b"[":
            found = detect_by_entries(first_entries(document))
        elif document.peek() == b"{" and is_telegram(document):
            found = "telegram"
        else:
            data = files.document(file)
            found = (
                (detect_by_fields(data) or detect_by_log_line(data)) if is_object(data) else None
            )
    if found is None:
        raise unsure(files.shown(file), "it matches no known source")
    return found


def first_entries(document: Document) -> list[Any]:
    """Return some entries of a list."""
    entries: list[Any] = []
    for _ in document.entries():
        entries.append(document.value())
        # A whole conversation is enough, and many would take long.
        if len(entries) == MAX_INSPECTED or not (is_object(entries[0]) and "role" in entries[0]):
            break
    return entries


def is_telegram(document: Document) -> bool:
    """Whether a Telegram export begins here; does not read its messages."""
    facts: dict[str, Any] = {}
    for key in document.fields():
        if key in TELEGRAM:
            return True
        if key == "messages":
            if document.peek() != b"[" or "id" not in facts or "type" not in facts:
                return False
            for _ in document.entries():
                first = document.value()
                return is_object(first) and "date" in first and "id" in first
            return True
        if len(facts) > MAX_INSPECTED:
            return False
        facts[key] = document.peek() not in b"{[" and document.value()
    return False


def detect_by_entries(entries: list[Any]) -> str | None:
    """Detect the source by the entries of a list."""
    first = entries[0] if entries else None
    if not is_object(first):
        return None
    if "mapping" in first:
        return "chatgpt"
    if "chat_messages" in first:
        return "claude"
    if "ts" in first and first.get("type") == "message":
        raise ParseError(
            "this is one day of a Slack export", hint="name the folder or zip with users.json"
        )
    if is_aya_entry(first):
        return "aya"
    return detect_by_messages(entries)


def detect_by_fields(body: dict[str, Any]) -> str | None:
    """Detect the source by the fields of an object."""
    if "contextwright" in body:
        return "contextwright"
    if "mapping" in body:
        return "chatgpt"
    if "chat_messages" in body:
        return "claude"
    if "contents" in body:
        return "gemini"
    if is_gryag_payload(body):
        return "gryag"
    if is_message(body):
        return detect_by_entries([body])
    messages = body.get("messages")
    if not is_list(messages):
        return "openai-responses" if "input" in body else None
    if is_session(body):
        return "port42"
    tools = objects_of(body.get("tools"))
    claude = "system" in body or any(map(is_claude_tool, tools))
    has_functions = any("function" in tool for tool in tools)
    is_plain_claude = has_claude_settings(body) and not has_functions
    plain = "anthropic" if is_plain_claude else "openai-chat"
    return detect_by_messages(messages, claude=claude, plain=plain)


def has_claude_settings(body: dict[str, Any]) -> bool:
    """Whether a body has settings of Anthropic's API, and none of OpenAI's."""
    if not OPENAI_FIELDS.isdisjoint(body):
        return False
    thinking = body.get("thinking")
    thinks = is_object(thinking) and (
        thinking.get("type") == "adaptive" or "budget_tokens" in thinking
    )
    return thinks or not CLAUDE_FIELDS.isdisjoint(body)


def detect_by_messages(
    messages: Iterable[Any], *, claude: bool = False, plain: str = "openai-chat"
) -> str | None:
    """Detect the source of messages; plain text is the same in all, and is not enough.

    `claude`: fields beside them are Anthropic's. `plain`: the format if all is plain text, because
    gateways with OpenAI's API take some of Anthropic's settings too.
    """
    found = {"anthropic"} if claude else set[str]()
    some = list(messages)[:MAX_INSPECTED]
    for message in some:
        if not is_object(message) or not isinstance(message.get("role"), str):
            return None
        blocks = objects_of(message.get("content"))
        if any(map(is_chatml_media, blocks)):
            found.add("chatml")
            continue
        types = {str(block.get("type")) for block in blocks}
        if not types.isdisjoint(CLAUDE_BLOCKS):
            found.add("anthropic")
        if not types.isdisjoint(OPENAI_BLOCKS):
            found.add("openai-chat")
        if is_forge_result(message):
            found.add("forge")
        elif message["role"] in OPENAI_ROLES or "tool_calls" in message:
            found.add("openai-chat")
    if any("parts" in message for message in some):
        return detect_by_parts(some)
    if "chatml" in found:
        found.discard("openai-chat")  # which has its calls and results too
    if len(found) > 1:
        return None
    return found.pop() if found else plain


def detect_by_parts(messages: list[dict[str, Any]]) -> str | None:
    """Detect the source of messages with parts: ours have types, gryag's are Gemini's."""
    if not all(is_list(message.get("parts")) for message in messages):
        return None
    if all(map(is_ours, messages)):
        return "contextwright"
    return "gryag" if is_gryag(messages) else "gemini"


def is_claude_tool(tool: dict[str, Any]) -> bool:
    """Whether a tool is Anthropic's: one with its schema, or one it hosts, by a dated type."""
    return "input_schema" in tool or ("name" in tool and "parameters" not in tool)


def is_chatml_media(block: dict[str, Any]) -> bool:
    """Whether a block is an image or sound of a Hugging Face list; Anthropic's has a `source`."""
    return block.get("type") in CHATML_MEDIA and "source" not in block


def objects_of(content: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; empty if it is not a list."""
    return [item for item in content if is_object(item)] if is_list(content) else []


def unsure(file: str, reason: str) -> ParseError:
    """Return the error for an undetected source."""
    hint = f"name it with --from: {', '.join(NAMES)}"
    return ParseError(f"unknown kind of file: {reason}", file=file, hint=hint)

"""ChatGPT account exports: `conversations.json`, each conversation a tree of messages.

The branch that ends at `current_node` is the one last shown. Other branches, from edited questions
and regenerated answers, are reported or become forks. A message to a `recipient` other than `all`
is a call, and the tool's next message is its result.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TypeGuard

import msgspec

from contextwright.documents.files import Files
from contextwright.documents.stream import Document
from contextwright.errors import ParseError, shown
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    mark,
    media_named,
)
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import (
    Media,
    MediaKind,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

__all__ = ["IMPORTER", "conversation_files"]

NAME = "chatgpt"
READ = ("id", "author", "create_time", "content", "recipient")


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the conversations of an export."""
    for name in conversation_files(files):
        with files.open(name) as stream:
            document = Document(stream, mend=files.mend)
            if document.peek() == b"{":  # a single saved conversation
                yield from conversations(Fields(document.value()), options.branches)
            else:
                for number in document.entries():
                    fields = Fields(document.value(), f"[{number}]")
                    yield from conversations(fields, options.branches)
            document.end()


def conversation_files(files: Files) -> list[str]:
    """Return the files with conversations: one, or several numbered ones for a large account."""
    if len(files.names) == 1:
        return list(files.names)
    found = [
        name
        for name in files.ending(".json")
        if name.rpartition("/")[2].lower().startswith("conversations")
    ]
    if not found:
        raise ParseError("it contains no conversations.json", file=files.label)
    return found


def conversations(fields: Fields, branches: bool) -> Iterator[Imported]:
    """Yield a conversation: the branch last shown, then the others if wanted."""
    tree = Tree(fields)
    id = as_id(tree.id or f"{NAME}-{fields.spelled('create_time') or fields.path}")
    report = Report()
    main = tree.branch(tree.current(report))
    placed: dict[str, tuple[str, int]] = {}
    messages = Branch(tree, id, report).messages(main, placed)
    unseen = tree.unseen(placed)
    if unseen and not branches:
        report.skip("on another branch (edited or regenerated)", unseen)
    title = fields.maybe("title")
    yield Imported(id=id, format=NAME, title=title, messages=messages, report=report)
    # After all leaves only circles are left: messages that are their own ancestors.
    for leaf in (*tree.leaves(), *tree.nodes) if branches else ():
        if leaf in placed:
            continue
        rest = tree.branch(leaf, placed)
        shared = tree.nodes[rest[0]].maybe("parent") if rest else None
        parent, at = placed.get(shared or "", (id, 0))
        fork, said = as_id(id, leaf), Report()
        messages = Branch(tree, fork, said, before=at).messages(rest, placed)
        if messages:
            yield Imported(
                id=fork,
                format=NAME,
                title=title,
                messages=messages,
                report=said,
                parent=parent,
                at=at,
            )


class Tree:
    """The `mapping` of a conversation: nodes with parents and children."""

    def __init__(self, fields: Fields) -> None:
        if not isinstance(fields.data.get("mapping"), dict):
            raise ParseError("must be an object", path=fields.place("mapping"))
        self.fields = fields
        self.id = fields.maybe("conversation_id") or fields.maybe("id") or ""
        mapping = fields.object("mapping")
        self.nodes = {key: Fields(value, key, mapping) for key, value in mapping.data.items()}

    def current(self, report: Report) -> str | None:
        """Return the current node; if the export names none, the last leaf."""
        node = self.fields.maybe("current_node")
        if node in self.nodes or not self.nodes:
            return node
        last = self.leaves()[-1]
        reason = f"{shown(node)} is not in the mapping; using the last leaf"
        report.change("repair.branch", self.fields.place("current_node"), reason)
        return last

    def leaves(self) -> list[str]:
        """Return the nodes that are no node's parent, in order."""
        parents = {node.maybe("parent") for node in self.nodes.values()}
        return [key for key in self.nodes if key not in parents] or list(self.nodes)[-1:]

    def branch(self, leaf: str | None, placed: Container[str] = ()) -> list[str]:
        """Return the nodes from the root, or from the last one already placed, to a leaf."""
        path: dict[str, None] = {}
        node = leaf
        while node is not None and node in self.nodes and node not in placed:
            if node in path:
                place = self.nodes[node].place("parent")
                raise ParseError("a message is its own ancestor", path=place)
            path[node] = None
            node = self.nodes[node].maybe("parent")
        return list(reversed(path))

    def absent_parent(self, node: str) -> str | None:
        """Return the parent of a node if the export does not have it."""
        parent = self.nodes[node].maybe("parent")
        return parent if parent is not None and parent not in self.nodes else None

    def unseen(self, placed: dict[str, tuple[str, int]]) -> int:
        """Return the number of messages on other branches."""
        nodes = self.nodes.items()
        return sum(1 for key, node in nodes if key not in placed and node.data.get("message"))


class Branch:
    """Turns the nodes of one branch into messages."""

    def __init__(self, tree: Tree, id: str, report: Report, before: int = 0) -> None:
        self.tree = tree
        self.id = id
        self.report = report
        self.before = before
        self.calls: dict[str, str] = {}
        """The newest call of each tool, by the tool's first name."""

    def messages(self, path: list[str], placed: dict[str, tuple[str, int]]) -> tuple[Message, ...]:
        """Yield the messages; `placed` gets the position of each node."""
        messages: list[Message] = []
        if path and (parent := self.tree.absent_parent(path[0])):
            place = self.tree.nodes[path[0]].place("parent")
            reason = f"{shown(parent)} is not in the mapping; what came before is missing"
            self.report.change("repair.branch", place, reason)
        for key in path:
            node = self.tree.nodes[key]
            message = self.message(node.object("message")) if node.data.get("message") else None
            if message is not None and messages and answers_the_same(messages[-1], message):
                messages[-1] = joined(messages[-1], message)
            elif message is not None:
                messages.append(message)
            placed[key] = (self.id, self.before + len(messages))
        return tuple(messages)

    def message(self, fields: Fields) -> Message | None:
        """Return one message; None if it is empty."""
        author = fields.object("author")
        role = author.text("role")
        if role not in ("system", "user", "assistant", "tool"):
            self.report.skip(f"role {shown(role)}")
            return None
        content = fields.object("content")
        kind = content.maybe("content_type") or "text"
        if kind == "reasoning_recap":
            self.report.skip("how long the model thought")
            return None
        metadata = fields.object("metadata")
        parts = [*parts_of(content, kind, attached(metadata))]
        if not parts:
            self.report.skip("empty message")
            return None
        if kind in ("user_editable_context", "model_editable_context"):
            role = "system"
        id = fields.maybe("id") or ""
        recipient = fields.maybe("recipient") or "all"
        if role == "assistant" and recipient != "all":
            parts = [
                *(part for part in parts if not is_words(part)),
                self.call(recipient, parts, id),
            ]
        elif role == "tool":
            parts = [self.result(author.maybe("name") or "tool", parts, kind)]
        name = author.maybe("name") if role == "user" else None
        hidden = metadata.data.get("is_visually_hidden_from_conversation") is True
        return Message(
            role,
            tuple(parts),
            Author(name=name) if name else None,
            sent_at=fields.spelled("create_time"),
            kind="note" if hidden else "message",
            # The conversation's own id, also on a fork, so that a message keeps its identity.
            meta=mark(f"{NAME}/{self.tree.id}/{id}", chatgpt=fields.rest(*READ)),
        )

    def call(self, recipient: str, parts: list[Part], id: str) -> ToolCall:
        """Return a call from what the model wrote to a tool, parsed if it is JSON."""
        words = "\n".join(part.text or "" for part in parts if is_words(part))
        call = ToolCall.from_json(recipient, words, id=id)
        if "_raw" in call.arguments:
            call = ToolCall(recipient, {"input": words}, id)
        self.calls[recipient.partition(".")[0]] = id
        return call

    def result(self, name: str, parts: list[Part], kind: str) -> ToolResult:
        """Return a tool's message as the result of its newest call."""
        thought = (Text(one.text) if isinstance(one, Thinking) else one for one in parts)
        pieces = tuple(part for part in thought if isinstance(part, Text | Media | Opaque))
        only = pieces[0] if len(pieces) == 1 else None
        content = only.text if isinstance(only, Text) else pieces
        call = self.calls.get(name.partition(".")[0])
        return ToolResult(call, content, name, is_error=kind == "system_error")


def answers_the_same(before: Message, message: Message) -> bool:
    """Whether a tool's message answers the same call as the one before it."""
    if before.role != "tool" or message.role != "tool":
        return False
    return before.results[0].call_id == message.results[0].call_id is not None


def joined(before: Message, message: Message) -> Message:
    """Join two answers to one call."""
    first, second = before.results[0], message.results[0]
    content = (*pieces_of(first), *pieces_of(second))
    result = msgspec.structs.replace(first, content=content)
    return before.with_parts([result])


def pieces_of(result: ToolResult) -> tuple[Text | Media | Opaque, ...]:
    content = result.content
    return content if isinstance(content, tuple) else (Text(result.text),)


# --- content ---------------------------------------------------------------------------------


def attached(metadata: Fields) -> dict[str, Media]:
    """Return the files of a message by their handles."""
    if "attachments" not in metadata.data:  # as in most messages
        return {}
    files = metadata.objects("attachments")
    found = [
        media_named(
            file.maybe("name"),
            file.maybe("mimeType") or file.maybe("mime_type"),
            handle=file.maybe("id"),
            origin=NAME,
        )
        for file in files
    ]
    return {media.file_id or f"#{place}": media for place, media in enumerate(found)}


def parts_of(content: Fields, kind: str, files: dict[str, Media]) -> Iterator[Part]:
    """Return the parts of a message: text, thinking and media, then attached files."""
    match kind:
        case "text" | "multimodal_text":
            yield from pieces(content, files)
        case "code" | "execution_output":
            yield from words(content.maybe("text"))
        case "thoughts":
            for thought in content.objects("thoughts"):
                said = [thought.maybe("summary"), thought.maybe("content")]
                yield Thinking("\n\n".join(word for word in said if word), origin=NAME)
        case "tether_browsing_display":
            yield from words(content.maybe("result") or content.maybe("summary"))
        case "tether_quote":
            said = [content.maybe("title"), content.maybe("url"), content.maybe("text")]
            yield from words("\n".join(word for word in said if word))
        case "system_error":
            said = [content.maybe("name"), content.maybe("text")]
            yield from words(": ".join(word for word in said if word))
        case "user_editable_context":
            said = [content.maybe("user_profile"), content.maybe("user_instructions")]
            yield from words("\n\n".join(word for word in said if word))
        case "model_editable_context":
            yield from words(content.maybe("model_set_context"))
        case _:
            yield Opaque(NAME, content.data, content.maybe("text"))
    yield from files.values()


def is_words(part: Part) -> TypeGuard[Text | Opaque]:
    """Whether a part is what the model wrote to a tool; files and thinking stay beside the call."""
    return isinstance(part, Text) or (isinstance(part, Opaque) and part.text is not None)


def words(text: str | None) -> Iterator[Text]:
    if text:
        yield Text(text)


def pieces(content: Fields, files: dict[str, Media]) -> Iterator[Part]:
    """Yield the parts of a message that may hold more than text."""
    for place, piece in enumerate(content.list("parts")):
        if isinstance(piece, str):
            yield from words(piece)
        else:
            yield from piece_of(Fields(piece, f"parts[{place}]", content), files)


def piece_of(piece: Fields, files: dict[str, Media]) -> Iterator[Part]:
    """Yield an image, audio, or its transcription."""
    kind = piece.maybe("content_type") or ""
    if kind == "audio_transcription":
        yield from words(piece.maybe("text"))
    elif "audio_video" in kind:
        yield asset(piece.object("audio_asset_pointer"), "audio", files)
        for frame in piece.objects("frames_asset_pointers"):
            yield asset(frame, "image", files)
        if piece.data.get("video_container_asset_pointer"):
            yield asset(piece.object("video_container_asset_pointer"), "video", files)
    elif "asset_pointer" in kind:
        yield asset(piece, "image" if kind.startswith("image") else "audio", files)
    else:
        yield Opaque(NAME, piece.data, piece.maybe("text"))


def asset(holder: Fields, kind: MediaKind, files: dict[str, Media]) -> Media:
    """Return the attached file that a pointer names, else the pointer's handle."""
    handle = (holder.maybe("asset_pointer") or "").rpartition("//")[2]
    known = files.pop(handle, None)
    return known or Media(kind, file_id=handle or None, origin=NAME)


IMPORTER = Importer(NAME, "ChatGPT account export", read, ("branches",))

"""Claude Code session logs: JSON Lines, one entry for each block of a reply.

Lines of one reply are joined into one message. Subagents become separate conversations. Compactions
between messages become events that the model does not see. A retracted prompt is kept hidden, with
everything that followed it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import Any, TypedDict

import msgspec
from msgspec import Struct

from contextwright.documents.files import Files
from contextwright.documents.read import ReadLine
from contextwright.errors import ParseError, shown
from contextwright.formats.anthropic.read import part_of
from contextwright.formats.reader import Reader
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    mark,
)
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, ToolResult
from contextwright.text.json import decoder
from contextwright.wire.values import is_list, is_object

__all__ = ["IMPORTER"]

NAME = "claude-code"
SPOKEN = ("user", "assistant")
TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
READ = (
    "parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug",
    "type", "message", "uuid", "timestamp", "toolUseResult", "sourceToolAssistantUUID", "agentId",
)  # fmt: skip
ABOUT = ("cwd", "version", "gitBranch")
MOST_AGENTS = 100
"""An agent's place has to fit into a byte."""
REPEATED = 255
"""The owner of a line whose entry is in the log already."""
UNREAD = object()
"""Stands for the line of another agent."""


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the sessions of a log, or of all logs in a folder, each with its subagents."""
    names = list(files.names) if len(files.names) == 1 else files.ending(".jsonl")
    if not names:
        raise ParseError("it contains no log (.jsonl)", file=files.label)
    for name in names:
        log = Log(files, name)
        if not log.agents and len(names) == 1:
            raise ParseError("it contains no message", file=files.shown(name))
        # A session that was opened and closed again leaves a log without messages.
        for agent in log.agents or {"": None}:
            yield log.imported(agent)


class Log:
    """One file, skimmed to learn its agents, then read once for each agent, which owns some lines.

    So each line is decoded whole and checked once.
    """

    def __init__(self, files: Files, name: str) -> None:
        self.files = files
        self.name = name
        self.session = ""
        self.title: str | None = None
        self.about: dict[str, Any] = {}
        self.agents: dict[str, Retractions] = {}
        """The agents: the session itself, without a name, then its subagents."""
        self.owners = bytearray()
        """For each line, the place of its agent; the first agent has what belongs to none."""
        self.known: set[str] = set()
        """The ids of all messages: Claude Code has written a history again for each question."""
        self.repeats = Counter[str]()
        """The number of repeated entries of each agent."""
        with files.ahead():
            for number, fields in self.entries(self.skim):
                self.learn(fields, number)

    def entries(self, read: ReadLine) -> Iterator[tuple[int, Fields]]:
        """Yield the entries with their lines; those that are read as `UNREAD` are left out."""
        for number, value in self.files.lines(self.name, read):
            if value is UNREAD:
                continue
            try:
                yield number, Fields(value)
            except ParseError as error:
                raise error.within(line=number, file=self.files.shown(self.name)) from None

    def skim(self, line: bytes, number: int) -> Any:
        """Return what `learn` looks at, without building the rest of an entry."""
        try:
            return decode_facts(self.files.mend(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self.files.line(line, number)  # of another shape, or wrong

    def learn(self, fields: Fields, number: int) -> None:
        """Record the facts of an entry about the whole session."""
        self.owners.extend(bytes(number + 1 - len(self.owners)))
        kind = str(fields.data.get("type"))
        if kind in TITLES:
            self.title = fields.data.get(TITLES[kind]) or self.title
        if kind not in SPOKEN:
            return
        agent = agent_of(fields)
        uuid = fields.data.get("uuid")
        if isinstance(uuid, str) and uuid:
            if uuid in self.known:
                self.repeats[agent] += 1
                self.owners[number] = REPEATED
                return
            self.known.add(uuid)
        self.agents.setdefault(agent, Retractions()).learn(fields, number)
        if len(self.agents) > MOST_AGENTS:
            message = f"more than {MOST_AGENTS} agents speak in it"
            raise ParseError(message, file=self.files.shown(self.name))
        self.owners[number] = list(self.agents).index(agent)
        self.session = self.session or str(fields.data.get("sessionId") or "")
        self.about = self.about or {
            key: fields.data[key] for key in ABOUT if isinstance(fields.data.get(key), str)
        }

    def imported(self, agent: str) -> Imported:
        """Return the conversation of one agent."""
        stem = self.name.rpartition("/")[2].removesuffix(".jsonl")
        id = as_id(self.session or stem, agent)
        report = Report()
        if self.repeats[agent]:
            report.skip("repeated entry", self.repeats[agent])
        title = self.title if isinstance(self.title, str) and not agent else None
        return Imported(
            id=id,
            format=NAME,
            title=title,
            agent=agent or None,
            messages=self.messages(agent, id, report),
            report=report,
            settings={NAME: self.about} if self.about else {},
        )

    def messages(self, agent: str, id: str, report: Report) -> Iterator[Message]:
        """Yield the messages of one agent, with replies joined."""
        if agent not in self.agents:
            return
        held: Held | None = None
        place = list(self.agents).index(agent)

        def read_own(line: bytes, number: int) -> Any:
            # A line that was added since the file was skimmed has no owner.
            is_own = number < len(self.owners) and self.owners[number] == place
            return self.files.line(line, number) if is_own else UNREAD

        for number, fields in self.entries(read_own):
            try:
                entry = self.entry(fields, id, report)
            except ParseError as error:
                raise error.within(line=number, file=self.files.shown(self.name)) from None
            if entry is None:
                continue
            if self.agents[agent].cover(number):
                report.change("repair.branch", f"line {number}", "retracted; kept hidden")
                message = msgspec.structs.replace(entry.message, visibility="hidden")
                entry = Held(entry.reply, message)
            if held is not None and held.reply and held.reply == entry.reply:
                held = Held(held.reply, held.joined(entry.message))
                continue
            if held is not None:
                yield held.message
            held = entry
        if held is not None:
            yield held.message

    def entry(self, fields: Fields, id: str, report: Report) -> Held | None:
        """Read a message from an entry; None if it is not one."""
        kind = fields.maybe("type") or "entry without a type"
        if kind in SPOKEN:
            return spoken(fields, id, report)
        subtype = fields.maybe("subtype")
        if subtype == "compact_boundary":
            return Held("", boundary(fields, id))
        if kind not in TITLES:
            report.skip(f"{shown(kind)[1:-1]}{f' {shown(subtype)[1:-1]}' if subtype else ''}")
        return None


class Block(TypedDict, total=False):
    """A block of a message, as far as it is skimmed."""

    type: Any


class Spoken(TypedDict, total=False):
    """A message, as far as it is skimmed."""

    content: str | list[Block]


class Facts(TypedDict, total=False):
    """An entry, as far as it is skimmed: all that `Log.learn` looks at."""

    type: Any
    uuid: Any
    summary: Any
    customTitle: Any
    aiTitle: Any
    sessionId: Any
    cwd: Any
    version: Any
    gitBranch: Any
    isSidechain: Any
    agentId: Any
    parentUuid: Any
    isMeta: Any
    message: Spoken


decode_facts = decoder(Facts).decode


class Held(Struct, frozen=True):
    """A message that the next line may continue, if it belongs to the same reply."""

    reply: str
    message: Message

    def joined(self, more: Message) -> Message:
        """Return the reply so far with more parts."""
        return self.message.with_parts((*self.message.parts, *more.parts))


def agent_of(fields: Fields) -> str:
    """Return the owner of an entry: the session itself, or a subagent."""
    if fields.data.get("isSidechain") is not True:
        return ""
    agent = fields.data.get("agentId")
    return agent if isinstance(agent, str) and agent else "sidechain"


def spoken(fields: Fields, id: str, report: Report) -> Held | None:
    """Return the message of a person, a tool or the model."""
    message = fields.object("message")
    role = message.text("role")
    if role not in SPOKEN:
        raise ParseError(f"{shown(role)} is not one of: user, assistant", path="message.role")
    model = message.maybe("model")
    parts = parts_of(message, model, report)
    if not parts:
        report.skip("empty message")
        return None
    if "toolUseResult" in fields.data:
        report.skip("structured copy of a result")
    flagged = {name for name in fields.data if fields.data[name] is True}
    rest = {**fields.rest(*READ), **message.rest("role", "content", "type")}
    failed = "isApiErrorMessage" in flagged
    made = Message(
        "tool" if all(isinstance(part, ToolResult) for part in parts) else role,  # pyright: ignore
        parts,
        sent_at=fields.maybe("timestamp"),
        kind=kind_of(flagged),
        visibility="internal" if failed else "public",
        meta=mark(f"{NAME}/{id}/{fields.maybe('uuid') or ''}", **{NAME: rest}),
    )
    return Held((message.maybe("id") or "") if role == "assistant" else "", made)


def kind_of(flagged: set[str]) -> Any:
    """Return the kind of message that an entry's flags make."""
    if "isCompactSummary" in flagged:
        return "summary"
    return "note" if "isMeta" in flagged else "message"


def parts_of(message: Fields, model: str | None, report: Report) -> tuple[Part, ...]:
    """Return the parts of a message, without blank text that only separates blocks."""
    content = message.data.get("content")
    if isinstance(content, str):
        return (Text(content),) if content.strip() else ()
    reader = Reader(NAME, strict=False)
    parts = [part_of(block.data, block.path, reader, model) for block in message.objects("content")]
    for change in reader.finish():
        report.add(change)
    return tuple(part for part in parts if not isinstance(part, Text) or part.text.strip())


def boundary(fields: Fields, id: str) -> Message:
    """Return the mark of a compaction: for people, not for the model."""
    return Message(
        "system",
        (Text(fields.maybe("content") or "Conversation compacted"),),
        sent_at=fields.maybe("timestamp"),
        kind="event",
        visibility="internal",
        meta=mark(f"{NAME}/{id}/{fields.maybe('uuid') or ''}", **{NAME: fields.rest(*READ)}),
    )


class Retractions:
    """The lines that were retracted: each range from a prompt to the one that replaced it."""

    def __init__(self) -> None:
        self.prompts: dict[str, int] = {}
        """The line of the newest prompt after each entry."""
        self.spans: list[tuple[int, float]] = []

    def learn(self, fields: Fields, number: int) -> None:
        """Check whether an entry replaces an earlier prompt: both follow the same entry."""
        parent = fields.data.get("parentUuid")
        if not isinstance(parent, str) or not is_prompt(fields):
            return
        first = self.prompts.get(parent)
        if first is not None:
            while self.spans and self.spans[-1][0] >= first:
                self.spans.pop()
            self.spans.append((first, number))
        self.prompts[parent] = number

    def cover(self, number: int) -> bool:
        """Whether a line was retracted."""
        place = bisect_right(self.spans, (number, inf)) - 1
        return place >= 0 and number < self.spans[place][1]


def is_prompt(fields: Fields) -> bool:
    """Whether a person wrote it, not a tool or the program."""
    if fields.data.get("type") != "user" or fields.data.get("isMeta") is True:
        return False
    message = fields.data.get("message")
    content = message.get("content") if is_object(message) else None
    if not is_list(content):
        return isinstance(content, str)
    return not any(is_object(block) and block.get("type") == "tool_result" for block in content)


IMPORTER = Importer(NAME, "Claude Code session logs", read)

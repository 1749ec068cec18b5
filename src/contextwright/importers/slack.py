"""Slack exports, a folder or a zip: `users.json`, `channels.json`, and a file a day per channel.

A channel is one conversation. What a bot says is the assistant's, joins and topics are events,
and a reply in a thread names the message it answers. Slack's markup becomes words; where that
changes them, `meta` keeps them as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from contextwright.errors import ParseError, shown
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    Report,
    as_id,
    mark,
    media_named,
)
from contextwright.importers.files import Files
from contextwright.messages import Author, Message, Part, Reply, Role, Text

__all__ = ["IMPORTER"]

NAME = "slack"
LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
MARKUP = re.compile(r"<([@#!]?)([^<>|]{1,2000})(?:\|([^<>]{0,2000}))?>")
EVENTS = frozenset(
    f"{place}_{what}"
    for place in ("channel", "group")
    for what in (
        "join leave topic purpose name archive unarchive convert_to_private posting_permissions"
    ).split()
) | {"bot_add", "bot_remove", "bot_enable", "bot_disable", "pinned_item", "unpinned_item",
     "app_conversation_join", "reminder_add", "huddle_thread"}  # fmt: skip
READ = ("type", "ts", "user", "text", "files", "file", "thread_ts", "parent_user_id")
EXCERPT = 120


def read(files: Files, branches: bool) -> Iterator[Imported]:
    """The channels of an export, one by one."""
    root = root_of(files)
    people = People(files, f"{root}users.json")
    listed = {name: fields for fields, name in channels(files, root)}
    days: dict[str, list[str]] = {}
    for name in files.names:
        folder, _, file = name.removeprefix(root).rpartition("/")
        if name.startswith(root) and folder and DAY.fullmatch(file):
            days.setdefault(folder, []).append(name)
    if not days:
        raise ParseError("no channel has a file of a day (2024-05-01.json)", file=files.label)
    for folder, names in days.items():
        channel = listed.get(folder)
        id = channel.text("id") if channel else folder
        report = Report()
        yield Imported(
            id=as_id(NAME, id),
            format=NAME,
            title=f"#{as_id(folder)}",
            messages=Channel(files, sorted(names), people, id, report).messages(),
            report=report,
            settings={NAME: channel.data} if channel else {},
        )


def root_of(files: Files) -> str:
    """The folder in which the export begins: many are packed with one around it."""
    found = [name for name in files.names if name.rpartition("/")[2] == "users.json"]
    if not found:
        hint = "name the folder or zip that holds users.json"
        raise ParseError("there is no users.json in it", file=files.label, hint=hint)
    return min(found, key=len).removesuffix("users.json")


def channels(files: Files, root: str) -> Iterator[tuple[Fields, str]]:
    """What is known of each channel, with the folder its days are in."""
    for name in LISTS:
        if f"{root}{name}" in files.names:
            with files.naming(f"{root}{name}"):
                for fields in objects_of(files, f"{root}{name}"):
                    yield fields, fields.maybe("name") or fields.text("id")


def objects_of(files: Files, name: str) -> Iterator[Fields]:
    """The objects of a file that is a list of them."""
    data = files.document(name)
    if not isinstance(data, list):
        raise ParseError(f"must be a list, not {shown(data)}")
    for place, item in enumerate(cast("list[object]", data)):
        yield Fields(item, f"[{place}]")


class People:
    """The users of an export by id."""

    def __init__(self, files: Files, name: str) -> None:
        with files.naming(name):
            self.authors = dict(map(person, objects_of(files, name)))

    def find(self, id: str | None) -> Author | None:
        """Who an id is; one the export does not know is an id alone."""
        return self.authors.get(id, Author(id)) if id else None

    def words(self, text: str) -> str:
        """Slack's markup as words: names for mentions, addresses for links."""
        if "<" in text:
            text = MARKUP.sub(self.spelled, text)
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    def spelled(self, match: re.Match[str]) -> str:
        """One piece of markup in words."""
        sign, target, label = match[1], match[2], match[3]
        match sign:
            case "@":
                author = self.find(target)
                return f"@{label or (author.label if author else target)}"
            case "#":
                return f"#{label or target}"
            case "!":
                return label or f"@{target}"
            case _:
                return f"{label} ({target})" if label and label != target else target


def person(user: Fields) -> tuple[str, Author]:
    """A user by id; the name people read comes first."""
    profile, id = user.object("profile"), user.text("id")
    names = profile.maybe("real_name"), user.maybe("real_name"), profile.maybe("display_name")
    label = next((name for name in names if name), None)
    return id, Author(id, label, user.maybe("name"))


class Channel:
    """The messages of one channel, day by day."""

    def __init__(
        self, files: Files, days: list[str], people: People, id: str, report: Report
    ) -> None:
        self.files = files
        self.days = days
        self.people = people
        self.id = id
        self.report = report
        self.heads: dict[str, Reply] = {}
        """Messages that began a thread, to quote them in replies."""

    def messages(self) -> Iterator[Message]:
        """All messages in order."""
        for day in self.days:
            with self.files.naming(day):
                for fields in objects_of(self.files, day):
                    message = self.message(fields)
                    if message is not None:
                        yield message

    def message(self, fields: Fields) -> Message | None:
        """One message; None for what is none."""
        subtype = fields.maybe("subtype") or ""
        if fields.maybe("type") != "message" or subtype in ("tombstone", "message_deleted"):
            self.report.skip(f"{subtype or fields.maybe('type') or 'entry'} without content")
            return None
        time = fields.text("ts")
        author = self.author(fields)
        parts = tuple(self.parts(fields))
        if not parts:
            self.report.skip("empty message")
            return None
        words = next((part.text for part in parts if isinstance(part, Text)), "")
        if fields.maybe("thread_ts") == time:
            self.heads[time] = Reply(time, author, words[:EXCERPT] or None)
        is_event = subtype in EVENTS
        role: Role = "system" if is_event else "assistant" if is_bot(fields, subtype) else "user"
        rest = fields.rest(*READ)
        if fields.maybe("text") and fields.text("text") != words:
            rest["text"] = fields.text("text")
        return Message(
            role,
            parts,
            author,
            self.reply(fields, time),
            sent_at=time,
            kind="event" if is_event else "message",
            meta=mark(f"{NAME}/{self.id}/{time}", slack=rest),
        )

    def author(self, fields: Fields) -> Author | None:
        """Who spoke: a person, or a bot under whatever name it took."""
        user = fields.maybe("user")
        if user:
            return self.people.find(user)
        profile = fields.object("bot_profile").maybe("name")
        bot, name = fields.maybe("bot_id"), fields.maybe("username") or profile
        return Author(bot, name) if bot or name else None

    def reply(self, fields: Fields, time: str) -> Reply | None:
        """The head of the thread a message stands in."""
        thread = fields.maybe("thread_ts")
        if thread is None or thread == time:
            return None
        known = self.heads.get(thread)
        return known or Reply(thread, self.people.find(fields.maybe("parent_user_id")))

    def parts(self, fields: Fields) -> Iterator[Part]:
        """Words, what was linked or sent by a bot, then files."""
        text = self.people.words(fields.maybe("text") or "")
        if not text:
            attached = fields.objects("attachments")
            text = "\n\n".join(filter(None, map(self.attached, attached)))
        if text:
            yield Text(text)
        single = fields.data.get("file")
        files = fields.objects("files") if single is None else [fields.object("file")]
        for file in files:
            yield media_named(
                file.maybe("name") or file.maybe("title"),
                file.maybe("mimetype"),
                url=file.maybe("url_private"),
            )

    def attached(self, attachment: Fields) -> str:
        """The words of an attachment: bots often speak in nothing else."""
        said = [attachment.maybe(name) for name in ("pretext", "title", "text")]
        words = "\n".join(word for word in said if word) or attachment.maybe("fallback") or ""
        return self.people.words(words)


def is_bot(fields: Fields, subtype: str) -> bool:
    """Whether a program spoke."""
    return subtype == "bot_message" or fields.maybe("bot_id") is not None


IMPORTER = Importer(NAME, "Slack export, folder or zip", read)

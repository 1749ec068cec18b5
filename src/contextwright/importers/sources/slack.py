"""Slack exports, a folder or a zip: `users.json`, `channels.json`, a file per channel and day.

A channel is one conversation. The assistant is the bot that `me` names, or the only bot; other bots
are participants. Joins and topics are events. A reply in a thread names the message it answers, and
`meta["thread"]` the thread; with `threads`, threads are separate conversations. Slack's markup
becomes plain text; if that changes a text, `meta` keeps the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from contextwright.documents.files import Files
from contextwright.errors import ParseError, shown
from contextwright.importers.base import (
    Fields,
    Imported,
    Importer,
    ReadOptions,
    Report,
    as_id,
    event,
    mark,
    media_named,
    one_clean_line,
    without_secrets,
)
from contextwright.importers.sources.slack_blocks import markup_of
from contextwright.messages.message import Author, Message, Reply, Role
from contextwright.messages.parts import Part, Text

__all__ = ["IMPORTER"]

NAME = "slack"
LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
UNREAD = {
    "canvases.json": "canvas",
    "lists.json": "list",
    "huddle_transcripts.json": "transcript of a huddle",
}
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
TITLE = 60
SLACKBOT = "USLACKBOT"


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the channels of an export."""
    root = root_of(files)
    people = People(files, f"{root}users.json", options)
    listed = channels(files, root)
    folders: dict[str, list[str]] = {}
    for name in files.names:
        folder, _, file = name.removeprefix(root).rpartition("/")
        if name.startswith(root) and folder and DAY.fullmatch(file):
            folders.setdefault(folder, []).append(name)
    if not folders:
        raise ParseError("no channel has a file of a day (2024-05-01.json)", file=files.label)
    report = Report()
    for name, what in UNREAD.items():
        if f"{root}{name}" in files.names:
            with files.naming(f"{root}{name}"):
                for _ in objects_of(files, f"{root}{name}"):
                    report.skip(what)
    for folder, names in folders.items():
        id, about = listed.get(folder, (folder, {}))
        days = sorted(names)
        read = Channel(files, days, people, id, report, apart=options.threads)
        report = Report()
        yield Imported(
            id=as_id(NAME, id),
            format=NAME,
            title=f"#{one_clean_line(folder)}",
            messages=read.messages(),
            report=read.report,
            settings={NAME: about} if about else {},
            has_ids=True,
        )
        for thread, messages in read.threads.items():
            yield Imported(
                id=as_id(NAME, id, thread),
                format=NAME,
                title=f"#{one_clean_line(folder)}: {messages[0].text[:TITLE]}",
                messages=messages,
                report=Report(),
                settings={NAME: {"channel": id, "thread": thread}},
                has_ids=True,
            )


def root_of(files: Files) -> str:
    """Return the folder in which the export begins; many zips have one around it."""
    found = [name for name in files.names if name.rpartition("/")[2] == "users.json"]
    if not found:
        hint = "name the folder or zip that holds users.json"
        raise ParseError("it contains no users.json", file=files.label, hint=hint)
    return min(found, key=len).removesuffix("users.json")


def channels(files: Files, root: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the id and the facts of each channel, by its folder."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in LISTS:
        if f"{root}{name}" in files.names:
            with files.naming(f"{root}{name}"):
                for channel in objects_of(files, f"{root}{name}"):
                    id = channel.text("id")
                    found[channel.maybe("name") or id] = id, channel.data
    return found


def objects_of(files: Files, name: str) -> Iterator[Fields]:
    """Yield the objects of a file that is a list of them."""
    data = files.document(name)
    if not isinstance(data, list):
        raise ParseError(f"must be a list, not {shown(data)}")
    for place, item in enumerate(cast("list[object]", data)):
        yield Fields(item, f"[{place}]")


class People:
    """The users of an export by id, and which of them is the assistant."""

    def __init__(self, files: Files, name: str, options: ReadOptions) -> None:
        self.options = options
        self.authors: dict[str, Author] = {}
        self.bots: dict[str, Author] = {}
        """Bots by the id in their messages, if a user entry exists for them."""
        with files.naming(name):
            for user in objects_of(files, name):
                id, author = person(user)
                self.authors[id] = author
                if user.data.get("is_bot") is True and id != SLACKBOT:
                    self.bots[user.object("profile").maybe("bot_id") or id] = author
        self.guess = None
        if options.me is None and len(self.bots) == 1:
            (self.guess,) = self.bots.values()

    def is_me(self, bot: str | None, author: Author | None) -> bool:
        """Whether the assistant wrote it: the participant named, else the only bot."""
        known = self.bots.get(bot) if bot else None
        if self.guess is not None:
            return self.guess in (known, author)
        found = [one for one in (known, author) if one is not None]
        names = [name for one in found for name in (one.id, one.name, one.username)]
        return self.options.is_me(bot, *names)

    def find(self, id: str | None, profile: Fields | None = None) -> Author | None:
        """Return the author with an id; one of another workspace has the profile of a message."""
        if id and id not in self.authors and profile is not None and profile.data:
            names = profile.maybe("real_name"), profile.maybe("display_name")
            self.authors[id] = author_of(id, profile.maybe("name"), *names)
        return self.authors.get(id, Author(id)) if id else None

    def words(self, text: str) -> str:
        """Convert Slack's markup to text: names for mentions, URLs for links."""
        if "<" in text:
            text = MARKUP.sub(self.spelled, text)
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    def spelled(self, match: re.Match[str]) -> str:
        """Convert one piece of markup."""
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
    """Return a user's id and author; the real name comes first."""
    profile, id = user.object("profile"), user.text("id")
    names = profile.maybe("real_name"), user.maybe("real_name"), profile.maybe("display_name")
    return id, author_of(id, user.maybe("name"), *names)


def author_of(id: str, username: str | None, *names: str | None) -> Author:
    """Return an author with the first of the names that is not empty."""
    return Author(id, next(filter(None, names), None), username)


class Channel:
    """The messages of one channel, day by day."""

    def __init__(
        self,
        files: Files,
        days: list[str],
        people: People,
        id: str,
        report: Report,
        *,
        apart: bool,
    ) -> None:
        self.files = files
        self.days = days
        self.people = people
        self.id = id
        self.report = report
        self.heads: dict[str, Reply] = {}
        """Messages that began a thread, to quote them in replies."""
        self.apart = apart
        self.threads: dict[str, list[Message]] = {}
        """The messages of each thread that is a separate conversation."""
        self.noted: set[str] = set()

    def messages(self) -> Iterator[Message]:
        """Yield all messages in order; those of separate threads are kept for later."""
        for day in self.days:
            with self.files.naming(day):
                for fields in objects_of(self.files, day):
                    message = self.message(fields)
                    if message is None:
                        continue
                    thread = message.meta.get("thread") if self.apart else None
                    if thread is not None:
                        self.threads.setdefault(thread, []).append(message)
                    if thread is None or message.reply_to is None:
                        yield message

    def message(self, fields: Fields) -> Message | None:
        """Read one message; None if it is empty."""
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
        rest = fields.rest(*READ)
        if fields.maybe("text") and fields.text("text") != words:
            rest["text"] = fields.text("text")
        thread = fields.maybe("thread_ts")
        meta = mark(f"{NAME}/{self.id}/{time}", thread=thread, slack=rest)
        if subtype in EVENTS:
            return event(words, author, at=time, meta=meta)
        return Message(
            self.role(fields, subtype, author),
            parts,
            author,
            self.reply(fields, time),
            sent_at=time,
            meta=meta,
        )

    def role(self, fields: Fields, subtype: str, author: Author | None) -> Role:
        """Return the role of a message; how bots were assigned is reported once."""
        bot, people = fields.maybe("bot_id"), self.people
        mine = people.is_me(bot, author)
        if mine and people.guess is not None:
            self.tell("guess.me", f"{shown(people.guess.label)} is assumed to be the assistant")
        elif not mine and people.options.me is None and (bot or subtype == "bot_message"):
            self.tell("guess.participant", "no bot is the assistant: name yours with `me`")
        return "assistant" if mine else "user"

    def tell(self, code: str, reason: str, path: str = "me") -> None:
        """Report something once."""
        if code not in self.noted:
            self.noted.add(code)
            self.report.change(code, path, reason)

    def author(self, fields: Fields) -> Author | None:
        """Return the author: a person, or a bot with the name it used."""
        user = fields.maybe("user")
        if user:
            return self.people.find(user, fields.object("user_profile"))
        profile = fields.object("bot_profile").maybe("name")
        bot, name = fields.maybe("bot_id"), fields.maybe("username") or profile
        return Author(bot, name) if bot or name else None

    def reply(self, fields: Fields, time: str) -> Reply | None:
        """Return the head of the thread that a message belongs to."""
        thread = fields.maybe("thread_ts")
        if thread is None or thread == time:
            return None
        known = self.heads.get(thread)
        return known or Reply(thread, self.people.find(fields.maybe("parent_user_id")))

    def parts(self, fields: Fields) -> Iterator[Part]:
        """Yield the text, what was linked or sent by a bot, then files."""
        text = self.people.words(fields.maybe("text") or markup_of(fields.objects("blocks")))
        if not text:
            attached = fields.objects("attachments")
            text = "\n\n".join(filter(None, map(self.attached, attached)))
        if text:
            yield Text(text)
        single = fields.data.get("file")
        files = fields.objects("files") if single is None else [fields.object("file")]
        for file in files:
            address = file.maybe("url_private")
            if address and without_secrets(address) != address:
                self.tell("loss.token", "addresses lose the export's tokens", "files")
            name = file.maybe("name") or file.maybe("title")
            yield media_named(name, file.maybe("mimetype"), url=address)
            spoken = file.object("transcription").object("preview").maybe("content")
            if spoken:
                yield Text(spoken)

    def attached(self, attachment: Fields) -> str:
        """Return the text of an attachment, because bots often write in attachments only."""
        said = [attachment.maybe(name) for name in ("pretext", "title", "text")]
        said += [titled(field) for field in attachment.objects("fields")]
        words = "\n".join(filter(None, said)) or markup_of(attachment.objects("blocks"))
        return self.people.words(words or attachment.maybe("fallback") or "")


def titled(field: Fields) -> str:
    """Return a field of an attachment as a line."""
    return ": ".join(filter(None, (field.maybe("title"), field.spelled("value"))))


IMPORTER = Importer(NAME, "Slack export, folder or zip", read, ("threads", "latest", "me"))

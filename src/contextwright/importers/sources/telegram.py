"""Telegram exports: `result.json` of one chat, or of a whole account.

Chats are read message by message, so their size does not matter. In a chat with a bot, the bot is
the assistant; in others, the participant that `me` names is, and everybody else is a user. Service
messages are events.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta, timezone
from typing import Any, cast

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
    event,
    mark,
    media_named,
)
from contextwright.messages.message import Author, Message, Reply
from contextwright.messages.parts import Media, MediaKind, Part, Text
from contextwright.messages.times import read_time

__all__ = ["IMPORTER"]

NAME = "telegram"
READ = (
    "id", "type", "date", "from", "from_id", "actor", "actor_id", "text", "text_entities",
    "reply_to_message_id", "photo", "file", "file_name", "mime_type", "media_type",
)  # fmt: skip
ANSWERED, ELSEWHERE = "reply_to_message_id", "reply_to_peer_id"
"""The message that is answered, and its chat if it is another one."""
CHAT_LISTS = ("chats", "left_chats")
DESCRIBED = (
    "location_information", "contact_information", "poll", "todo_list", "invoice_information",
    "giveaway_information", "giveaway_results",
)  # fmt: skip
"""Fields of what is neither text nor a file."""
ABSENT = "(File"
"""Prefix of the path of a file that was not exported."""
MEDIA: dict[str, MediaKind] = {
    "sticker": "image",
    "animation": "video",
    "video_file": "video",
    "video_message": "video",
    "voice_message": "audio",
    "audio_file": "audio",
}


def read(files: Files, options: ReadOptions) -> Iterator[Imported]:
    """Yield the chats of an export."""
    name = result_file(files)
    with files.open(name) as stream:
        document = Document(stream, mend=files.mend)
        chat = Chat(document, files, name, options)
        for key in document.fields():
            if key in CHAT_LISTS:
                yield from listed(document, files, name, options)
            elif key == "messages":
                yield chat.imported()
                chat.finish()
            else:
                chat.learn(key)
        document.end()


def result_file(files: Files) -> str:
    """Return the file with the messages."""
    if len(files.names) == 1:
        return files.names[0]
    found = [name for name in files.names if name.rpartition("/")[2] == "result.json"]
    if len(found) != 1:
        number = "no" if not found else "more than one"
        hint = "export as machine-readable JSON, and name result.json"
        raise ParseError(f"it contains {number} result.json", file=files.label, hint=hint)
    return found[0]


def listed(document: Document, files: Files, name: str, options: ReadOptions) -> Iterator[Imported]:
    """Yield the chats of an account."""
    for key in document.fields():
        if key != "list":
            continue
        for _ in document.entries():
            chat = Chat(document, files, name, options)
            for field in document.fields():
                if field == "messages":
                    yield chat.imported()
                    chat.finish()
                else:
                    chat.learn(field)


class Chat:
    """A chat whose messages follow its fields."""

    def __init__(self, document: Document, files: Files, name: str, options: ReadOptions) -> None:
        self.options = options
        self.document = document
        self.files = files
        self.name = name
        self.facts: dict[str, Any] = {}
        self.path = document.path
        self.report = Report()
        self.unread: Iterator[Message] = iter(())

    def learn(self, field: str) -> None:
        """Read a field of the chat."""
        value = self.document.value()
        if isinstance(value, str | int | float):
            self.facts[field] = value

    def imported(self) -> Imported:
        """Return the chat, with its messages still to be read."""
        fields = Fields(self.facts, self.path)
        id = fields.spelled("id")
        if id is None:
            raise ParseError("a chat has its id before its messages", path=fields.place("id"))
        with_bot = fields.maybe("type") == "bot_chat"
        if not with_bot and self.options.me is None:
            self.report.change(
                "guess.participant",
                "me",
                "no message is the assistant's: name the assistant with `me`",
            )
        self.unread = self.messages(id, with_bot=with_bot)
        return Imported(
            id=as_id(NAME, id),
            format=NAME,
            title=fields.maybe("name"),
            messages=self.unread,
            report=self.report,
            settings={NAME: self.facts},
            has_ids=True,
        )

    def finish(self) -> None:
        """Skip messages that were not taken, because the document continues after them."""
        for _ in self.unread:
            pass

    def messages(self, chat: str, *, with_bot: bool) -> Iterator[Message]:
        """Yield the messages of a chat as they arrive; errors name the file."""
        with self.files.naming(self.name):
            path = self.document.path
            for number in self.document.entries():
                self.document.peek()
                line = self.document.here()
                fields = Fields(self.document.value(), f"{path}[{number}]")
                try:
                    bot = f"user{chat}" if with_bot and self.options.me is None else None
                    message = message_of(fields, chat, bot, self.options)
                except ParseError as error:
                    raise error.within(line=line) from None
                if message is None:
                    self.report.skip("empty message")
                else:
                    yield message


def message_of(fields: Fields, chat: str, bot: str | None, options: ReadOptions) -> Message | None:
    """Return one message; None if it is empty."""
    id = fields.spelled("id")
    service = fields.maybe("type") == "service"
    who = "actor" if service else "from"
    person, name = fields.maybe(f"{who}_id"), fields.maybe(who)
    author = Author(person, name) if person or name else None
    answered = fields.spelled(ANSWERED)
    rest = fields.rest(*READ)
    if answered and ELSEWHERE in rest:  # where another message may have the same id
        rest[ANSWERED], answered = fields.data[ANSWERED], None
    meta, time = mark(f"{NAME}/{chat}/{id}", telegram=rest), time_of(fields)
    if service:
        return event(service_event_text(fields), author, at=time, meta=meta)
    parts = tuple(parts_of(fields))
    if not parts:
        return None
    mine = options.is_me(person, (person or "").removeprefix("user"), name)
    role = "assistant" if mine or (bot and person == bot) else "user"
    reply = Reply(answered) if answered else None
    return Message(role, parts, author, reply, sent_at=time, meta=meta)


def time_of(fields: Fields) -> str | None:
    """Return the local time of the export, with its zone where the seconds since 1970 show it."""
    spelled, seconds = fields.maybe("date"), fields.spelled("date_unixtime")
    local, moment = read_time(spelled or ""), read_time(seconds or "")
    if local is None or moment is None:
        return spelled
    ahead = local - moment
    if not ahead or abs(ahead) >= timedelta(days=1):
        return spelled
    return local.replace(tzinfo=timezone(ahead)).isoformat()


def service_event_text(fields: Fields) -> str:
    """Describe an event."""
    said = [fields.maybe("actor"), (fields.maybe("action") or "service message").replace("_", " ")]
    said += [fields.maybe("title"), words_of(fields)]
    return " ".join(word for word in said if word)


def parts_of(fields: Fields) -> Iterator[Part]:
    """Yield the text, then media by name."""
    text = words_of(fields)
    if text:
        yield Text(text)
    if photo := fields.maybe("photo"):
        yield Media("image", name=file_name(photo))
    if fields.maybe("file") or fields.maybe("media_type"):
        kind = fields.maybe("media_type") or ""
        mime = fields.maybe("mime_type")
        name = fields.maybe("file_name") or file_name(fields.maybe("file") or "")
        media = media_named(name, mime)
        yield Media(MEDIA[kind], mime, name=name) if kind in MEDIA else media
    for name in DESCRIBED:
        if name in fields.data:
            yield Text(described(fields, name))
    game = fields.maybe("game_title"), fields.maybe("game_description"), fields.maybe("game_link")
    if any(game):
        yield Text(f"[game] {'; '.join(filter(None, game))}")
    if (stars := fields.spelled("paid_stars_amount")) is not None:
        yield Text(f"[paid media] {stars} stars")
    place = fields.maybe("place_name"), fields.maybe("address")
    if any(place):
        yield Text(", ".join(filter(None, place)))
    if emoji := fields.maybe("sticker_emoji"):
        yield Text(emoji)


def words_of(fields: Fields) -> str:
    """Return the text of a message, else what its entities say."""
    return text_at(fields, "text_entities" if fields.data.get("text") is None else "text")


def text_at(fields: Fields, name: str) -> str:
    """Return a text: a string, or a list of strings and marked-up pieces."""
    text = fields.data.get(name)
    if isinstance(text, str):
        return text
    if not isinstance(text, list | None):
        raise ParseError(f"must be text or a list, not {shown(text)}", path=fields.place(name))
    pieces = enumerate(cast("list[object]", text or []))
    return "".join(piece_of(piece, f"{fields.place(name)}[{i}]") for i, piece in pieces)


def piece_of(piece: object, path: str) -> str:
    """Return a piece of text; a link with other text keeps its URL."""
    if isinstance(piece, str):
        return piece
    fields = Fields(piece, path)
    text, address = fields.text("text"), fields.maybe("href")
    return f"{text} ({address})" if address and address != text else text


def file_name(place: str) -> str | None:
    """Return the name of an exported file; it is never opened."""
    return None if place.startswith(ABSENT) else place.replace("\\", "/").rpartition("/")[2] or None


def described(message: Fields, name: str) -> str:
    """Describe a location, a contact or a poll as text."""
    what = name.partition("_")[0]
    if what == "invoice" and isinstance(message.data[name], str):
        return f"[{what}] {message.text(name)}"  # as most versions write it
    fields = message.object(name)
    formatted = {key: text_at(fields, key) for key in ("question", "title") if key in fields.data}
    said = [
        f"{key}: {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in (fields.data | formatted).items()
        if isinstance(value, str | int | float) and value != ""
    ]
    answers = [text_at(answer, "text") for answer in fields.objects("answers")]
    return f"[{what}] " + "; ".join([*said, *answers])


IMPORTER = Importer(NAME, "Telegram result.json of a chat or an account", read, ("latest", "me"))

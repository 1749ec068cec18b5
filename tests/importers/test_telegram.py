"""Telegram exports, whole outputs."""

from pathlib import Path
from typing import Any

import pytest

from contextwright import importers
from contextwright.errors import ParseError
from contextwright.messages.message import Author, Message, Reply
from contextwright.messages.parts import Media, Text
from samples.exports import TELEGRAM, read, reports, write_json, write_zip


def telegram(*messages: Any, **facts: Any) -> dict[str, Any]:
    return {"name": "Ann", "type": "personal_chat", "id": 4321, **facts, "messages": list(messages)}


def wrote(id: int, **fields: Any) -> dict[str, Any]:
    when = {"date": "2024-05-01T08:00:00", "from": "Ann", "from_id": "user1"}
    return {"id": id, "type": "message", **when, **fields}


def stands(id: int, *parts: Any, role: Any = "user", **fields: Any) -> Message:
    marks = {"source": f"telegram/4321/{id}", **fields.pop("marks", {})}
    author = fields.pop("author", Author("user1", "Ann"))
    time = "2024-05-01T08:00:00"
    return Message(role, parts, author, sent_at=time, meta=marks, **fields)


def test_telegram(tmp_path: Path) -> None:
    first = stands(1, Text("Hungry?"), marks={"telegram": {"date_unixtime": "1714550400"}})
    path = write_json(tmp_path / "result.json", TELEGRAM)
    assert read(path) == [("telegram-4321", "Ann", (first,))]
    packed = write_zip(tmp_path / "t.zip", {"Export/result.json": TELEGRAM, "Export/photos/a": ""})
    assert read(packed) == read(path)


def test_telegram_of_a_whole_account(tmp_path: Path) -> None:
    bot = telegram(
        wrote(1, text="/start"),
        wrote(2, text="Hi!", **{"from": "Chef", "from_id": "user4321"}),
        type="bot_chat",
        name="Chef",
    )
    data = {
        "about": "Here is the data",
        "personal_information": {"user_id": 1, "first_name": "Ann"},
        "chats": {"about": "Chats", "list": [TELEGRAM, bot]},
        "left_chats": {"about": "Left", "list": [telegram(id=5, name=None)]},
    }
    found = read(write_json(tmp_path / "result.json", data))
    assert [(id, title) for id, title, _ in found] == [
        ("telegram-4321", "Ann"),
        ("telegram-4321", "Chef"),
        ("telegram-5", None),
    ]
    assert [(message.role, message.text) for message in found[1][2]] == [
        ("user", "/start"),
        ("assistant", "Hi!"),
    ]


def test_telegram_entities_replies_media_and_service(tmp_path: Path) -> None:
    link = {"type": "text_link", "text": "here", "href": "https://x.org"}
    poll = {"question": "Tea?", "total_voters": 1, "answers": [{"text": "yes"}, {"text": "no"}]}
    path = write_json(
        tmp_path / "result.json",
        telegram(
            wrote(1, text=["Look ", link, {"type": "bold", "text": "!"}], edited="2024-05-02"),
            wrote(2, text="Why?", reply_to_message_id=1),
            wrote(3, text="", photo="photos/photo_1.jpg", width=1),
            wrote(4, text="", file="(File not included. Change …)", media_type="voice_message",
                  mime_type="audio/ogg"),
            wrote(5, text="", file="../../etc/passwd", mime_type="text/plain"),
            wrote(6, text="", poll=poll),
            wrote(7, text=""),
            {"id": 8, "type": "service", "date": "2024-05-01T08:00:00", "actor": "Ann",
             "actor_id": "user1", "action": "pin_message", "message_id": 2, "text": ""},
        ),
    )  # fmt: skip
    assert read(path)[0][2] == (
        stands(1, Text("Look here (https://x.org)!"), marks={"telegram": {"edited": "2024-05-02"}}),
        stands(2, Text("Why?"), reply_to=Reply("1")),
        stands(3, Media("image", name="photo_1.jpg"), marks={"telegram": {"width": 1}}),
        stands(4, Media("audio", "audio/ogg")),
        stands(5, Media("document", "text/plain", name="passwd")),
        stands(
            6,
            Text("[poll] question: Tea?; total_voters: 1; yes; no"),
            marks={"telegram": {"poll": poll}},
        ),
        stands(
            8,
            Text("Ann pin message"),
            kind="event",
            visibility="internal",
            marks={"telegram": {"action": "pin_message", "message_id": 2}},
        ),
    )
    guess = "guess.participant me: no message is the assistant's: name the assistant with `me`"
    assert reports(path) == [{"skipped": {"empty message": 1}, "changes": [guess]}]


@pytest.mark.parametrize(
    ("date", "seconds", "time"),
    [
        ("2024-05-01T08:00:00", "1714539600", "2024-05-01T08:00:00+03:00"),
        ("2024-05-01T02:30:00", 1714550400, "2024-05-01T02:30:00-05:30"),
        ("2024-05-01T08:00:00", "1714550400", "2024-05-01T08:00:00"),
        ("2024-05-01T08:00:00", "1", "2024-05-01T08:00:00"),
        ("2024-05-01T08:00:00", "soon", "2024-05-01T08:00:00"),
        ("soon", "1714550400", "soon"),
    ],
)
def test_telegram_times_have_the_zone_of_the_export(
    tmp_path: Path, date: str, seconds: str | int, time: str
) -> None:
    wording = {"text": "x", "date": date, "date_unixtime": seconds}
    joined = {"type": "service", "actor": "Ann", "action": "join"}
    path = write_json(
        tmp_path / "result.json", telegram(wrote(1, **wording), wrote(2, **wording, **joined))
    )
    assert [message.sent_at for message in read(path)[0][2]] == [time, time]


def test_telegram_answers_to_other_chats_and_places(tmp_path: Path) -> None:
    elsewhere = {"reply_to_message_id": 1, "reply_to_peer_id": "channel5"}
    spot = {"location_information": {"latitude": 1.5}, "place_name": "Cafe", "address": "Main St"}
    told = {"first_name": "Bob", "last_name": "", "is_user": True}
    path = write_json(
        tmp_path / "result.json",
        telegram(
            wrote(1, text="Here"),
            wrote(2, text="There", **elsewhere),
            wrote(3, text="", **spot),
            wrote(4, text="", contact_information=told),
        ),
    )
    assert read(path)[0][2][1:] == (
        stands(2, Text("There"), marks={"telegram": elsewhere}),
        stands(
            3, Text("[location] latitude: 1.5"), Text("Cafe, Main St"), marks={"telegram": spot}
        ),
        stands(
            4,
            Text("[contact] first_name: Bob; is_user: true"),
            marks={"telegram": {"contact_information": told}},
        ),
    )


def test_telegram_names_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"id": 1, "type": "x", "messages": [\n{"id": 1, "date": "d"},\n{"id": []}]}')
    with pytest.raises(ParseError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: line 3: messages[1].id: must be text, not []"


def test_chats_nobody_reads_are_passed_over(tmp_path: Path) -> None:
    data = {"chats": {"list": [TELEGRAM, telegram(wrote(1, text="x"), id=7)]}}
    path = write_json(tmp_path / "result.json", data)
    assert [one.id for one in importers.read(path)] == ["telegram-4321", "telegram-7"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"game_title": "Chess", "game_description": "Play!"}, "[game] Chess; Play!"),
        ({"invoice_information": {"title": "A", "amount": 5}}, "[invoice] title: A; amount: 5"),
        ({"invoice_information": '{"title": "Soup"}'}, '[invoice] {"title": "Soup"}'),
        (
            {"todo_list": {"title": ["Buy ", {"type": "bold", "text": "now"}], "answers": [
                {"id": 1, "text": ["milk"]}, {"id": 2, "text": "tea"}]}},
            "[todo] title: Buy now; milk; tea",
        ),
        ({"giveaway_information": {"quantity": 5}}, "[giveaway] quantity: 5"),
        ({"giveaway_results": {"winners_count": 5}}, "[giveaway] winners_count: 5"),
        ({"paid_stars_amount": 7}, "[paid media] 7 stars"),
    ],
)  # fmt: skip
def test_what_is_neither_text_nor_a_file_is_described(
    tmp_path: Path, fields: dict[str, Any], text: str
) -> None:
    path = write_json(tmp_path / "result.json", telegram(wrote(1, text="", **fields)))
    assert [message.text for message in read(path)[0][2]] == [text]

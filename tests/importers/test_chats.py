"""Chats of people: Slack and Telegram, whole outputs."""

from pathlib import Path
from typing import Any

import pytest

from contextwright.errors import ParseError
from contextwright.messages.message import Author, Message, Reply
from contextwright.messages.parts import Media, Text
from samples.exports import SLACK, TELEGRAM, read, reports, write_json, write_zip

ANN = Author("U1", "Ann Lee", "ann")
BOB = Author("U2", "Bob", "bob")


def slack(*messages: Any) -> dict[str, Any]:
    return {**SLACK, "lunch/2024-05-01.json": list(messages)}


def said(ts: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "ts": ts, **fields}


def meta(ts: str, thread: str | None = None, **rest: Any) -> dict[str, Any]:
    marks = {"thread": thread, "slack": rest}
    return {"source": f"slack/C1/{ts}", **{name: mark for name, mark in marks.items() if mark}}


@pytest.mark.parametrize("root", ["", "export of May/"])
def test_slack(tmp_path: Path, root: str) -> None:
    path = write_zip(tmp_path / "s.zip", {root + name: value for name, value in SLACK.items()})
    text = "<@U1> has joined the channel"
    joined = Message(
        "user",
        (Text("@Ann Lee has joined the channel"),),
        ANN,
        sent_at="1714550400.000100",
        kind="event",
        visibility="internal",
        meta=meta("1714550400.000100", subtype="channel_join", text=text),
    )
    asked = Message(
        "user",
        (Text("Who is hungry?"),),
        ANN,
        sent_at="1714550401.000200",
        meta=meta("1714550401.000200"),
    )
    assert read(path) == [("slack-C1", "#lunch", (joined, asked))]


def test_slack_folder_reads_days_in_order(tmp_path: Path) -> None:
    for name, value in SLACK.items():
        write_json(tmp_path / name, value)
    write_json(tmp_path / "lunch" / "2024-04-30.json", [said("1", user="U2", text="first")])
    write_json(tmp_path / "random" / "2024-04-30.json", [said("2", user="U9", text="?")])
    found = read(tmp_path, "slack")
    assert [(id, title, len(messages)) for id, title, messages in found] == [
        ("slack-C1", "#lunch", 3),
        ("slack-random", "#random", 1),
    ]
    assert found[0][2][0].text == "first"
    assert found[1][2][0].author == Author("U9")


def test_slack_threads_bots_files_edits_and_reactions(tmp_path: Path) -> None:
    file = {"name": "menu.pdf", "mimetype": "application/pdf", "url_private": "https://f.org/m"}
    reactions = [{"name": "tada", "users": ["U2"], "count": 1}]
    path = write_zip(
        tmp_path / "s.zip",
        slack(
            said("1.1", user="U1", text="Soup &amp; <https://x.org|bread>?", thread_ts="1.1"),
            said("1.2", user="U2", text="Yes", thread_ts="1.1", parent_user_id="U1"),
            said("1.3", user="U2", text="Late", thread_ts="0.9", parent_user_id="U1"),
            said(
                "1.4",
                subtype="bot_message",
                bot_id="B1",
                username="Chef",
                text="",
                attachments=[{"pretext": "Today:", "text": "Risotto", "fallback": "x"}],
            ),
            said("1.5", user="U1", text="", files=[file], edited={"user": "U1", "ts": "1.6"}),
            said("1.7", user="U2", text="Great", reactions=reactions),
            said("1.8", subtype="tombstone", text="This message was deleted."),
            said("1.9", user="U2", text=""),
        ),
    )
    words = "Soup & bread (https://x.org)?"
    (_, _, messages), *others = read(path)
    assert others == []
    assert messages == (
        Message(
            "user",
            (Text(words),),
            ANN,
            sent_at="1.1",
            meta=meta("1.1", "1.1", text="Soup &amp; <https://x.org|bread>?"),
        ),
        Message(
            "user", (Text("Yes"),), BOB, Reply("1.1", ANN, words), "1.2", meta=meta("1.2", "1.1")
        ),
        Message("user", (Text("Late"),), BOB, Reply("0.9", ANN), "1.3", meta=meta("1.3", "0.9")),
        Message(
            "user",
            (Text("Today:\nRisotto"),),
            Author("B1", "Chef"),
            sent_at="1.4",
            meta=meta(
                "1.4",
                subtype="bot_message",
                bot_id="B1",
                username="Chef",
                attachments=[{"pretext": "Today:", "text": "Risotto", "fallback": "x"}],
            ),
        ),
        Message(
            "user",
            (Media("document", "application/pdf", url="https://f.org/m", name="menu.pdf"),),
            ANN,
            sent_at="1.5",
            meta=meta("1.5", edited={"user": "U1", "ts": "1.6"}),
        ),
        Message(
            "user", (Text("Great"),), BOB, sent_at="1.7", meta=meta("1.7", reactions=reactions)
        ),
    )
    skipped = {"tombstone without content": 1, "empty message": 1}
    told = "guess.participant me: bots are participants; name your own as `me`"
    assert reports(path) == [{"skipped": skipped, "changes": [told]}]


def test_slack_guests_are_named_by_their_messages(tmp_path: Path) -> None:
    profile = {"real_name": "", "display_name": "Eve", "name": "eve", "team": "T2"}
    path = write_zip(
        tmp_path / "s.zip",
        {
            "users.json": [],
            "c/2024-05-01.json": [
                {
                    "type": "message",
                    "user": "U9",
                    "user_profile": profile,
                    "text": "a",
                    "ts": "1.1",
                },
                {"type": "message", "user": "U9", "text": "<@U9>", "ts": "1.2"},
                {"type": "message", "user": "U8", "user_profile": {}, "text": "b", "ts": "1.3"},
            ],
        },
    )
    messages = read(path)[0][2]
    eve = Author("U9", "Eve", "eve")
    assert [message.author for message in messages] == [eve, eve, Author("U8")]
    assert messages[1].text == "@Eve"


def rich(*elements: Any, kind: str = "section", **fields: Any) -> dict[str, Any]:
    return {"type": f"rich_text_{kind}", "elements": [*elements], **fields}


BLOCKS: list[dict[str, Any]] = [
    {"type": "header", "text": {"type": "plain_text", "text": "Lunch < dinner &amp; tea"}},
    {"type": "divider"},
    {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "<@U1>: *soup* &lt;hot&gt;"},
        "fields": [{"type": "mrkdwn", "text": "<https://x.org|menu>"}],
    },
    {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text"}}]},
    {
        "type": "context",
        "elements": [
            {"type": "image", "image_url": "https://x.org/i", "alt_text": "a bowl"},
            {"type": "plain_text", "text": "by Chef"},
        ],
    },
    {"type": "markdown", "text": "**a** > b"},
    {
        "type": "rich_text",
        "elements": [
            rich(
                {"type": "text", "text": "1 < 2 &amp; "},
                {"type": "user", "user_id": "U1"},
                {"type": "channel", "channel_id": "C1"},
                {"type": "usergroup", "usergroup_id": "S1"},
                {"type": "broadcast", "range": "here"},
                {"type": "emoji", "name": "tada"},
                {"type": "link", "url": "https://x.org"},
                {"type": "link", "url": "https://x.org", "text": "x<y"},
                {"type": "date", "timestamp": 1, "fallback": " May 1"},
            ),
            rich(rich({"type": "text", "text": "rice"}), kind="list", style="bullet"),
            rich(
                rich({"type": "text", "text": "wash"}),
                rich({"type": "text", "text": "boil"}),
                kind="list",
                style="ordered",
            ),
            rich({"type": "text", "text": "so\nhe said"}, kind="quote"),
            rich({"type": "text", "text": "if a > b"}, kind="preformatted"),
        ],
    },
]
WORDS = """\
Lunch < dinner & tea

@Ann Lee: *soup* <hot>
menu (https://x.org)

a bowl by Chef

**a** > b

1 < 2 &amp; @Ann Lee#C1@S1@here:tada:https://x.orgx<y (https://x.org) May 1
• rice
1. wash
2. boil
> so
> he said
```
if a > b
```"""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"text": "", "blocks": BLOCKS}, WORDS, id="blocks"),
        pytest.param({"blocks": BLOCKS[:1]}, "Lunch < dinner & tea", id="no text"),
        pytest.param({"text": "Said", "blocks": BLOCKS}, "Said", id="a text says it all"),
        pytest.param(
            {"text": "", "attachments": [{"fallback": "[no preview]", "blocks": BLOCKS[:1]}]},
            "Lunch < dinner & tea",
            id="blocks in an attachment",
        ),
        pytest.param(
            {
                "text": "",
                "attachments": [
                    {"title": "Build", "fields": [{"title": "State", "value": "failed"}]}
                ],
            },
            "Build\nState: failed",
            id="fields of an attachment",
        ),
    ],
)
def test_slack_apps_speak_in_blocks(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    """Once a message of blocks alone was left out as empty."""
    path = write_zip(tmp_path / "s.zip", slack(said("1.1", user="U1", **fields)))
    ((_, _, (message,)),) = read(path)
    assert message.parts == (Text(words),)
    assert (
        message.meta["slack"].items()
        >= {name: value for name, value in fields.items() if name != "text"}.items()
    )


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"channels.json": []}, "there is no users.json in it"),
        ({"users.json": []}, "no channel has a file of a day"),
        ({**SLACK, "users.json": {}}, "users.json: must be a list, not {}"),
        ({**SLACK, "users.json": [{}]}, "users.json: [0].id: is missing"),
        (slack({"type": "message", "text": "x"}), "lunch/2024-05-01.json: [0].ts: is missing"),
        (slack(5), "lunch/2024-05-01.json: [0]: must be an object, not 5"),
    ],
)
def test_slack_of_a_wrong_shape(tmp_path: Path, members: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(write_zip(tmp_path / "s.zip", members), "slack")
    assert message in str(caught.value)


def test_recorded_slack_export(data_folder: Path) -> None:
    found = read(data_folder / "exports" / "slack_export_viewer_testarchive.zip")
    counts = [(title, len(messages)) for _, title, messages in found]
    assert counts == [("#enrique", 102), ("#traveling-sailor", 56)]
    assert all(message.sent_at and message.time for _, _, chat in found for message in chat)


# --- Telegram ----------------------------------------------------------------------------------


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
    guess = "guess.participant me: everybody is a participant; name `me`"
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
    from contextwright import importers

    data = {"chats": {"list": [TELEGRAM, telegram(wrote(1, text="x"), id=7)]}}
    path = write_json(tmp_path / "result.json", data)
    assert [one.id for one in importers.read(path)] == ["telegram-4321", "telegram-7"]

"""Slack exports, whole outputs."""

from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright import importers
from contextwright.errors import ParseError
from contextwright.importers.intake import Intake
from contextwright.messages.message import Author, Message, Reply
from contextwright.messages.parts import Media, Text
from samples.exports import SLACK, read, reports, write_json, write_zip

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
    told = "guess.participant me: no bot is the assistant: name yours with `me`"
    assert reports(path) == [{"skipped": skipped, "changes": [told]}]


def test_a_later_slack_export_brings_edits_and_deletions(tmp_path: Path) -> None:
    """In channels as in threads that are kept apart, and an older export changes nothing."""
    asked = said("1.1", user="U1", text="Soup?", thread_ts="1.1")
    answer = said("1.2", user="U2", text="Yes", thread_ts="1.1")
    gone = said("1.3", user="U2", text="No", thread_ts="1.1")
    alone = [said(f"2.{at}", user="U1", text=text) for at, text in enumerate(("one", "two", "six"))]
    changed = {"edited": {"user": "U2", "ts": "3.0"}}
    first = slack(asked, answer, gone, *alone)
    later = slack(
        asked,
        {**answer, **changed, "text": "Yes!"},
        said("1.4", user="U1", text="Good", thread_ts="1.1"),
        {**alone[0], **changed, "text": "ONE"},
        alone[2],
    )
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        for number, members in enumerate((first, later, first)):
            with importers.open_files(write_zip(tmp_path / f"{number}.zip", members)) as files:
                Intake(format="slack", threads=True).into(store, files)
        found = {
            str(info.id): [
                (one.message.text, one.message.visibility)
                for one in store.conversation(info.id).read(hidden=True)
            ]
            for info in store.list()
        }
    assert found == {
        "slack-C1": [
            ("Soup?", "public"),  # where a thread begins is said in the channel, too
            ("ONE", "public"),
            ("two", "deleted"),
            ("six", "public"),
        ],
        "slack-C1-1.1": [
            ("Soup?", "public"),
            ("Yes!", "public"),
            ("No", "deleted"),
            ("Good", "public"),
        ],
    }


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
        ({"channels.json": []}, "it contains no users.json"),
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


def test_slack_voice_is_read_and_canvases_are_counted(tmp_path: Path) -> None:
    spoken = {"status": "complete", "preview": {"content": "See you at noon", "has_more": False}}
    clip = {"name": "clip.m4a", "mimetype": "audio/mp4", "transcription": spoken}
    export = slack(said("1", user="U1", text="", files=[clip]))
    lists = {"canvases.json": [{"id": "F1"}, {"id": "F2"}], "lists.json": []}
    path = write_zip(tmp_path / "s.zip", {**export, **lists})
    ((_, _, (message,)),) = read(path)
    assert message.parts == (
        Media("audio", "audio/mp4", name="clip.m4a"),
        Text("See you at noon"),
    )
    assert reports(path) == [{"skipped": {"canvas": 2}, "changes": []}]

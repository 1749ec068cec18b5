"""What becomes of exports with everything in them, and of one field of them that is odd or gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextwright import importers
from fuzzing.readers import result_of
from golden_files import compare_digests
from samples.exports import node, write_json, write_zip
from strategies.bodies.junk import places

ASKED = {"recipient": "python.run"}
FILES = {
    "attachments": [
        {"id": "file-1", "name": "plan.pdf", "mimeType": "application/pdf"},
        {"id": "file-2", "name": "cat.png", "mime_type": "image/png"},
        {"name": "notes"},
    ]
}
POINTER = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-2"}
SPOKEN = {
    "content_type": "real_time_user_audio_video_asset_pointer",
    "audio_asset_pointer": {"asset_pointer": "sediment://file-3"},
}
CONTENTS: dict[str, dict[str, Any]] = {
    "thoughts": {"thoughts": [{"summary": "Plan", "content": "Look first."}, {"content": "Go."}]},
    "tether_browsing_display": {"result": "", "summary": "Two pages"},
    "tether_quote": {"title": "Soup", "url": "https://example.org", "text": "Boil it."},
    "user_editable_context": {"user_profile": "I cook.", "user_instructions": "Be brief."},
    "model_editable_context": {"model_set_context": "Likes soup."},
    "reasoning_recap": {"content": "Thought for 3 s"},
    "canvas": {"text": "Draft"},
}
CHATGPT = [
    {
        "title": "Lunch",
        "id": "conv-1",
        "current_node": "last",
        "mapping": {
            "root": node("root", None),
            "u": node("u", "root", "user", "See", POINTER, SPOKEN, name="Ann", metadata=FILES),
            **{
                kind: node(kind, "u", "assistant", content={"content_type": kind, **content})
                for kind, content in CONTENTS.items()
            },
            "c": node("c", "canvas", "assistant", '{"code": "1"}', **ASKED, create_time=17.5),
            "r1": node("r1", "c", "tool", "One", name="python.run"),
            "r2": node("r2", "r1", "tool", "Two", POINTER, name="python"),
            "e": node(
                "e", "r2", "tool", name="web", content={"content_type": "system_error", "name": "E"}
            ),
            "code": node("code", "e", "assistant", content={"content_type": "code", "text": "x"}),
            "odd": node("odd", "code", "critic", "No."),
            "last": node("last", "odd", "assistant", "Soup.", "", {"text": "opaque"}),
        },
    }
]
CLAUDE = [
    {
        "uuid": "chat-1",
        "name": "Tea",
        "account": {"uuid": "me"},
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Which tea?",
                "content": [],
                "sender": "human",
                "created_at": "2025-01-01T10:00:01.000000Z",
                "attachments": [
                    {"file_name": "a.txt", "file_type": "txt", "extracted_content": "Mint"},
                    {"file_name": "b.pdf"},
                ],
                "files": [{"file_name": "menu.png", "file_uuid": "f1"}],
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look."},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "name": "find", "input": {"what": "tea"}},
                    {
                        "type": "tool_result",
                        "name": "find",
                        "content": [{"type": "text", "text": "Mint"}],
                    },
                    {"type": "tool_use", "id": "t2", "name": "find", "input": {}},
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "is_error": True,
                        "content": [{"type": "text", "text": "No"}, {"type": "image", "file": "x"}],
                    },
                    {"type": "tool_result", "content": {"tea": 1}},
                    {"type": "tool_result", "content": [{"type": "image", "text": "x"}]},
                    {"type": "token_budget"},
                    {"type": "flag", "text": "Careful"},
                    {"type": "text", "text": "Mint."},
                ],
            },
        ],
    }
]
DAY = {"type": "message", "user": "U1"}
SLACK = {
    "users.json": [
        {"id": "U1", "name": "ann", "real_name": "Ann Lee", "profile": {"display_name": "annie"}},
        {"id": "U2", "name": "bot", "is_bot": True, "profile": {"real_name": "B", "bot_id": "B1"}},
    ],
    "channels.json": [{"id": "C1", "name": "lunch", "members": ["U1", "U2"]}],
    "lunch/2024-05-01.json": [
        {**DAY, "ts": "1.1", "text": "<@U1|me> <@U1> <@U9> <#C1|lunch> <#C1> <!here> <!s|cook>"},
        {**DAY, "ts": "2.2", "text": "<https://a.org|A> <https://b.org> &lt;", "thread_ts": "2.2"},
        {**DAY, "text": "Yes", "ts": "3.3", "thread_ts": "2.2", "parent_user_id": "U1"},
        {"type": "message", "subtype": "bot_message", "bot_id": "B1", "text": "Soup.", "ts": "4.4"},
        {**DAY, "subtype": "channel_topic", "text": "set the topic", "ts": "5.5"},
        {**DAY, "subtype": "tombstone", "ts": "6.6"},
        {**DAY, "user": "U7", "user_profile": {"real_name": "Eve"}, "text": "Hi", "ts": "6.7"},
        {
            **DAY,
            "text": "",
            "ts": "7.7",
            "files": [{"id": "F1", "name": "a.png", "mimetype": "image/png", "title": "A"}],
        },
    ],
}  # fmt: skip
WRITTEN = {"type": "message", "date": "2024-05-01T08:00:00", "from": "Ann", "from_id": "user1"}
TELEGRAM = {
    "name": "Bot",
    "type": "bot_chat",
    "id": 4321,
    "messages": [
        {"id": 1, **WRITTEN, "text": ["Hungry? ", {"type": "link", "text": "A", "href": "a.org"}]},
        {"id": 2, **WRITTEN, "from_id": "user4321", "text": "Yes.", "reply_to_message_id": 1},
        {"id": 3, **WRITTEN, "text": "", "photo": "photos/a.jpg"},
        {"id": 4, **WRITTEN, "text": "", "file": "f\\v.ogg", "media_type": "voice_message",
         "mime_type": "audio/ogg"},
        {"id": 5, **WRITTEN, "text": "", "file": "(File not included)", "file_name": "b.pdf"},
        {"id": 6, **WRITTEN, "text": "", "location_information": {"latitude": 1.5, "x": [1]},
         "place_name": "Cafe", "address": "Main St"},
        {"id": 7, **WRITTEN, "text": "", "poll": {"question": "?", "answers": [{"text": "A"}]}},
        {"id": 8, **WRITTEN, "text": "", "sticker_emoji": "🍲"},
        {"id": 9, "type": "service", "date": "2024-05-01T09:00:00", "actor": "Ann",
         "actor_id": "user1", "action": "pin_message", "title": "Lunch", "text": ""},
        {"id": 10, **WRITTEN, "text_entities": [{"type": "plain", "text": "By entities."}]},
        {"id": 11, **WRITTEN, "text": "Elsewhere", "date_unixtime": "1714539600",
         "reply_to_message_id": 1, "reply_to_peer_id": "channel5"},
    ],
}  # fmt: skip
EXPORTS: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "slack": SLACK,
    "telegram": TELEGRAM,
}


def odd_exports(whole: Any) -> Iterator[tuple[object, Iterator[Any]]]:
    """Each place of an export, and the export with an odd value there, an empty one, and none."""

    def alter(holder: Any, key: Any) -> Iterator[Any]:
        kept = holder[key]
        for value in ("zzz", type(kept)()):
            holder[key] = value
            yield whole
        if isinstance(holder, dict):
            del holder[key]
            yield whole
        holder[key] = kept

    for number, (holder, key) in enumerate(list(places(whole))):
        yield (number, key), alter(holder, key)


def read(path: Path, format: str) -> list[object]:
    """All that becomes of an export."""
    return [
        (
            *(one.id, one.title, one.parent, one.at, one.settings, list(one.messages)),
            *(one.report.skipped, one.report.changes),
        )
        for one in importers.read(path, format)
    ]


@pytest.mark.parametrize("format", EXPORTS)
def test_what_becomes_of_an_odd_value_in_an_export(format: str, tmp_path: Path) -> None:
    path = tmp_path / ("slack.zip" if format == "slack" else "export.json")

    def outcome(export: Any) -> str:
        (write_zip if format == "slack" else write_json)(path, export)
        return str(result_of(read, path, format)).replace(str(tmp_path), "FOLDER")

    whole = json.loads(json.dumps(EXPORTS[format]))
    compare_digests(
        f"odd-{format}",
        [
            ("whole", outcome(whole)),
            *((place, [*map(outcome, odd)]) for place, odd in odd_exports(whole)),
        ],
    )

"""An import reports what a later request will have to repair; `--strict` refuses it."""

from pathlib import Path
from typing import Any

import pytest

from commands import Run
from contextwright.store.store import Store
from samples.exports import FINETUNING, write_json, write_lines

ASKED = {"role": "user", "content": "How many?"}
TOLD = {"role": "assistant", "content": "42."}


def called(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": id, "type": "function", "function": {"name": "count", "arguments": "{}"}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def shown(part: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [part, {"type": "text", "text": "What is it?"}]}


BAD_DATA = "data:image/png;base64,@@@@"
FAULTS: dict[str, tuple[list[Any], str]] = {
    "unknown part type": (
        [shown({"type": "hologram", "x": 1}), TOLD],
        "loss.part: message 1: a part 'hologram' is kept as it came: its type is unknown",
    ),
    "image without address": (
        [shown({"type": "image_url", "image_url": {}}), TOLD],
        "loss.part: message 1: a part 'image_url' is kept as it came: required field is missing",
    ),
    "orphan result": (
        [ASKED, {"role": "tool", "tool_call_id": "c9", "content": "42"}, TOLD],
        "loss.orphan: message 2: a result answers no call",
    ),
    "result without id": (
        [ASKED, called("c1"), {"role": "tool", "content": "42"}, TOLD],
        "repair.result: message 3: a result without an id is taken as the oldest call's",
    ),
    "two calls with one id": (
        [ASKED, called("c1", "c1"), {"role": "tool", "tool_call_id": "c1", "content": "42"}],
        "repair.id: message 2: a call has the id of an earlier one",
    ),
    "bad base64": (
        [shown({"type": "image_url", "image_url": {"url": BAD_DATA}}), TOLD],
        "loss.media: message 1: the data of its image are not base64",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_mend_is_said(fault: str, cw: Run, tmp_path: Path) -> None:
    messages, said = FAULTS[fault]
    file = write_json(tmp_path / "talk.json", {"messages": messages})
    done = cw("import", str(file), "--changes", "--store", str(tmp_path / "store.db"))
    code, _, reason = said.partition(": ")
    assert done.code == 0
    assert done.err.splitlines() == [f"{code} talk: {reason}"]


@pytest.mark.parametrize("fault", FAULTS)
def test_strict_refuses_it_with_its_line(fault: str, cw: Run, tmp_path: Path) -> None:
    messages, said = FAULTS[fault]
    code, place, reason = said.split(": ", 2)
    file = write_lines(tmp_path / "many.jsonl", FINETUNING[0], {"messages": messages})
    store = str(tmp_path / "store.db")
    done = cw("import", str(file), "--strict", "--store", store)
    assert (done.code, done.out) == (1, "")
    assert f"{file}: line 2: 'many-2': {place}: {reason} ({code})" in done.err
    lines = write_lines(tmp_path / "one.jsonl", *messages)
    done = cw("import", str(lines), "--strict", "--from", "openai-chat", "--store", store)
    assert f"{lines}: line {place.removeprefix('message ')}: 'one': {place}: {reason}" in done.err
    with Store(store) as stored:
        assert list(stored.list()) == [], "all or nothing"


def test_strict_takes_what_is_sound(cw: Run, tmp_path: Path) -> None:
    answered = [ASKED, called("c1", "c2"), TOLD]
    answered[2:2] = [{"role": "tool", "tool_call_id": id, "content": "42"} for id in ("c2", "c1")]
    hosted = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    claude = {"system": "s", "messages": [ASKED, {"role": "assistant", "content": [hosted, found]}]}
    for number, body in enumerate([{"messages": answered}, claude, {"contents": GEMINI}]):
        file = write_json(tmp_path / f"{number}.json", body)
        done = cw("import", str(file), "--strict", "--store", str(tmp_path / "store.db"))
        assert (done.code, done.err) == (0, ""), done.err
    done = cw("import", str(tmp_path / "0.json"), "--strict", "--replace-invalid")
    assert done.code == 2


GEMINI = [
    {"role": "user", "parts": [{"text": "How many?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "count", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "count", "response": {"n": 42}}}]},
]


@pytest.mark.parametrize("part", [{"fileData": {"mimeType": "image/png"}}, {"inlineData": {}}])
def test_media_of_gemini_without_address(part: dict[str, Any], cw: Run, tmp_path: Path) -> None:
    contents = [{"role": "user", "parts": [{"text": "What is it?"}, part]}]
    file = write_json(tmp_path / "talk.json", {"contents": contents})
    done = cw("import", str(file), "--changes", "--store", str(tmp_path / "store.db"))
    kind = "image" if "fileData" in part else "document"
    assert done.err == f"loss.media talk: message 1: its {kind} has neither data nor an address\n"
    fixed = cw("fix", str(file), "--model", "gemini-3.8-flash")
    assert (fixed.code, "loss.media" in fixed.err) == (1, True)
    checked = cw("check", str(file), "--model", "gemini-3.8-flash")
    assert (checked.code, "T-required" in checked.out) == (1, True)


def test_a_message_on_each_line_is_one_conversation(cw: Run, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "talk.jsonl", ASKED, called("c1"), TOLD)
    store = str(tmp_path / "store.db")
    done = cw("import", str(file), "--store", store)
    assert done.out == f"{file}: openai-chat: 3 messages of 1 conversation\n"
    with Store(store) as stored:
        read = [one.message for one in stored.conversation("talk").read()]
    assert [message.role for message in read] == ["user", "assistant", "assistant"]
    # The same file with more at its end adds that alone.
    write_lines(file, ASKED, called("c1"), TOLD, ASKED)
    done = cw("import", str(file), "--store", store)
    assert done.out == f"{file}: openai-chat: 1 message of 1 conversation (3 already stored)\n"


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ({"messages": [ASKED]}, "line 3: is not a message, as the lines before it are"),
        ({"role": "user", "content": 7}, "line 3: messages[2].content: must be"),
        ("{", "line 3: "),
    ],
)
def test_one_wrong_line_refuses_all(last: Any, reason: str, cw: Run, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "talk.jsonl", ASKED, TOLD, *([] if last == "{" else [last]))
    if last == "{":
        file.write_text(file.read_text() + "{\n")
    store = str(tmp_path / "store.db")
    done = cw("import", str(file), "--store", store)
    assert (done.code, done.out) == (1, "")
    assert f"{file}: {reason}" in done.err
    with Store(store) as stored:
        assert list(stored.list()) == []

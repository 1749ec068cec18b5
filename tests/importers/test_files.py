"""Files of every bad kind, and the laws that hold for all of them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright import assistant, formats, importers, tool_result, user
from contextwright.documents.read import LINE_LIMIT
from contextwright.documents.stream import Document
from contextwright.errors import ContextwrightError, ParseError, UnknownFormat
from contextwright.formats import api
from contextwright.importers.base import NAMES
from contextwright.importers.detection import MAX_INSPECTED, is_telegram
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, ToolCall
from contextwright.store.rows.validation import decode_message
from contextwright.text.json import encode_json
from samples.documents import DOCUMENTS, LINES, everything, lines
from samples.exports import (
    CHATGPT,
    CLAUDE,
    CLAUDE_CODE,
    CODEX,
    FINETUNING,
    PORT42,
    SLACK,
    TELEGRAM,
    read,
    reports,
    write_json,
    write_lines,
    write_zip,
)

# --- detection ---------------------------------------------------------------------------------


def test_an_export_on_one_line_may_be_longer_than_lines(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(b'[{"mapping": {}}' + b" " * LINE_LIMIT + b"]")
    assert detected(path) == "chatgpt"


@pytest.mark.parametrize(("name", "data"), (DOCUMENTS | LINES).items())
def test_content_tells_the_source(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + data)
    assert detected(path) == name
    assert read(path) == read(path, name) != []
    if name in ("chatgpt", "claude"):
        packed = write_zip(tmp_path / "file.zip", {"conversations.json": data})
        assert detected(packed) == name


def detected(path: Path) -> str:
    with importers.open_files(path) as files:
        return importers.detect(files)


@pytest.mark.parametrize("format", formats.NAMES)
def test_an_export_of_all_conversations_is_read_again(tmp_path: Path, format: str) -> None:
    """Only the second conversation shows the format of JSON Lines."""
    plain = [user("Hi", sent_at="2026-05-04T12:00:00Z"), assistant("Hello")]
    call = assistant(ToolCall("clock", {"zone": "Kyiv"}, "c1"))
    talks = [plain, [*plain, user("What time is it?"), call, tool_result("c1", "12:00")]]
    payloads = [
        api.render(Conversation(tuple(talk), id=f"talk{number}"), format).payload
        for number, talk in enumerate(talks)
    ]
    path = write_lines(tmp_path / "all.jsonl", *payloads)
    assert [words_of(messages) for _, _, messages in read(path)] == [
        words_of(api.parse(payload, format).messages) for payload in payloads
    ]
    assert reports(path) == reports(path, format)


def test_files_that_begin_alike_are_conversations_of_their_own(tmp_path: Path) -> None:
    """A chat that begins like another one became a part of it, and others were refused."""
    plain = [{"role": "user", "content": "x"}]
    for name in ("chat.1.json", "chat.2.json", "day/chat.json", "day/other.v2.json"):
        write_json(tmp_path / name, {"messages": plain})
    write_lines(tmp_path / "train.jsonl", plain, plain)
    ids = ["chat.1", "chat.2", "train-1", "train-2", "day-chat", "other"]
    assert sorted(id for id, _, _ in read(tmp_path)) == sorted(ids)


def test_a_message_among_conversations_is_refused_with_its_line(tmp_path: Path) -> None:
    plain = {"role": "user", "content": "x"}
    path = write_lines(tmp_path / "x.jsonl", {"messages": [plain]}, plain)
    with pytest.raises(ParseError, match="line 2: messages: must be a list"):
        read(path)


def words_of(messages: Iterable[Message]) -> list[Any]:
    return [(message.role, [plain_part(part) for part in message.parts]) for message in messages]


def plain_part(part: Part) -> Part:
    return msgspec.structs.replace(part, extra={})


@pytest.mark.parametrize("others", [0, MAX_INSPECTED - 2, MAX_INSPECTED - 1, MAX_INSPECTED])
def test_messages_of_a_chat_come_after_a_few_fields(tmp_path: Path, others: int) -> None:
    path = tmp_path / "result.json"
    fields = {f"field {number}": number for number in range(others)}
    path.write_bytes(encode_json({"type": "x", "id": 1, **fields, "messages": []}))
    with importers.open_files(path) as files, files.open(path.name) as stream:
        assert is_telegram(Document(stream)) == (others < MAX_INSPECTED)


OTHERS: list[tuple[Any, str | None]] = [
    ({"contents": [{"role": "user", "parts": [{"text": "x"}]}]}, "gemini"),
    ({"input": "x", "model": "gpt-5"}, "openai-responses"),
    ({"system": "x", "messages": [{"role": "user", "content": "x"}]}, "anthropic"),
    (
        {
            "messages": [{"role": "user", "content": "x"}],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        },
        "anthropic",
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
        "anthropic",
    ),
    (
        {
            "messages": [{"role": "user", "content": "x"}],
            "tools": [{"type": "web_search_20250305", "name": "web_search"}],
        },
        "anthropic",
    ),
    (
        {"messages": [{"role": "assistant", "content": [{"type": "server_tool_use"}]}]},
        "anthropic",
    ),
    (
        {"messages": [{"role": "user", "content": "x"}], "thinking": {"type": "adaptive"}},
        "anthropic",
    ),
    (
        {
            "messages": [{"role": "user", "content": "x"}],
            "thinking": {"type": "enabled"},
            "tools": [{"type": "function", "function": {"name": "f"}}],
        },
        "openai-chat",
    ),
    (
        {
            "messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}],
            "thinking": {"type": "enabled"},
        },
        "openai-chat",
    ),
    (
        {"messages": [{"role": "user", "content": "x"}], "top_k": 5, "response_format": {}},
        "openai-chat",
    ),
    (
        {"messages": [{"role": "user", "content": "x"}], "top_k": 5},
        "openai-chat",
    ),
    (
        {"messages": [{"role": "user", "content": "x"}], "thinking": {"type": "enabled"}},
        "openai-chat",
    ),
    ({"messages": [{"role": "tool", "tool_call_id": "a", "content": "x"}]}, "openai-chat"),
    ([{"role": "user", "content": "x"}], "openai-chat"),
    ([{"role": "tool", "content": "Tool: calculator\nResult: 8"}], "forge"),
    ([{"role": "tool", "content": "Tool: x\ny", "tool_call_id": "a"}], "openai-chat"),
    ([{"role": "user", "content": "Tool: x\ny"}], "openai-chat"),
    ([{"role": "tool", "content": "Tool: x\ny"}, {"role": "developer", "content": "x"}], None),
    ({"contextwright": 1, "messages": []}, "contextwright"),
    ([{"role": "user", "parts": [{"type": "text", "text": "x"}]}], "contextwright"),
    ([{"index": 0, "turn": 0, "timestamp": "t", "role": "user", "content": "x"}], "aya"),
    ([{"role": "user", "parts": [{"text": "x"}]}], "gemini"),  # or gryag's, which is read alike
    ([{"role": "tool", "parts": [{"function_response": {"name": "f"}}]}], "gryag"),
    ([{"role": "user", "parts": [{"text": '[meta] user_id=4 name="A"'}, {"text": "x"}]}], "gryag"),
    ({"history": [], "user_parts": [{"text": "x"}]}, "gryag"),
    ({"system_instruction": "x", "history": [{"role": "user", "parts": []}]}, "gryag"),
    ({"history": []}, None),
    ([{"role": "user", "parts": [{"text": "x"}]}, {"role": "user", "content": "x"}], None),
    (
        {"messages": [{"role": "tool", "content": [{"type": "tool_use"}]}]},
        None,
    ),
    ({"messages": [5]}, None),
    ({"users": []}, None),
    ([{"role": "user", "content": [{"type": "image", "url": "https://x/y.png"}]}], "chatml"),
    (
        [
            {"role": "user", "content": [{"type": "audio", "base64": "UklGRg=="}]},
            {"role": "tool", "content": "x"},
        ],
        "chatml",
    ),
    (
        [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}],
        "anthropic",
    ),
    ([], None),
    ({}, None),
    (5, None),
]


@pytest.mark.parametrize(("data", "name"), OTHERS)
def test_what_is_not_certain_is_refused(tmp_path: Path, data: Any, name: str | None) -> None:
    path = write_json(tmp_path / "x.json", data)
    if name is not None:
        assert detected(path) == name
        return
    with pytest.raises(ParseError, match=r"x\.json: unknown kind of file.*--from: anthropic"):
        read(path)


def test_one_day_of_slack_says_what_to_name(tmp_path: Path) -> None:
    path = write_json(tmp_path / "2024-05-01.json", SLACK["lunch/2024-05-01.json"])
    with pytest.raises(ParseError, match="one day of a Slack export .name the folder"):
        read(path)


def test_unknown_format(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", [])
    with pytest.raises(UnknownFormat, match="known: anthropic, aya, chatgpt"):
        read(path, "whatsapp")


# --- bad files ---------------------------------------------------------------------------------

BAD: list[tuple[str, bytes, str]] = [
    ("empty", b"", "the document is empty"),
    ("blank", b"   ", "the document is empty"),
    ("no JSON", b"hello there", "unexpected 'hello'"),
    ("UTF-16", "[1]".encode("utf-16"), "this is not UTF-8 text"),
    ("Latin-1", b'[{"mapping": "\xe9"}]', "UTF-8"),
    ("NUL", b"\x00\x00\x00\x00", "this is not UTF-8 text"),
    ("raw NUL", b'[{"mapping": "\x00"}]', "control"),
    ("half", b'[{"mapping": "\\ud800"}]', "surrogate"),
    ("twice", b'[{"mapping": {}, "mapping": {}}]', "twice"),
    ("deep", b'[{"mapping":' + b"[" * 5_000 + b"]" * 5_000 + b"}]", "nested deeper"),
    ("NaN", b'[{"mapping": NaN}]', "NaN"),
    ("two", b'[{"mapping": {}}] 5', "something follows the document"),
    ("cut", b'[{"mapping": {"a": "b', "the document ends in the middle"),
    ("comma", b'[{"mapping": {}},]', "unexpected"),
]


@pytest.mark.parametrize(("name", "data", "message"), BAD, ids=[row[0] for row in BAD])
@pytest.mark.parametrize("format", ["chatgpt", None])
def test_bad_files_say_why_in_one_line(
    tmp_path: Path, name: str, data: bytes, message: str, format: str | None
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ParseError) as caught:
        read(path, format)
    said = str(caught.value)
    assert message in said
    assert said.startswith(f"{path}: line 1")
    assert "\n" not in said
    assert len(said) < 400


FIELDS = (
    "id uuid messages mapping chat_messages type role content message payload text parts input "
    "contents sender author author_id current_node parent sessionId preferred_output agent"
).split()

SHAPES = st.recursive(
    st.none() | st.integers() | st.sampled_from([*FIELDS, "user", "assistant", "tool", "all"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=16,
)


@given(
    format=st.sampled_from(NAMES),
    data=st.binary(max_size=60) | SHAPES.map(lambda value: json.dumps(value).encode()),
)
def test_no_file_is_worse_than_an_error(format: str, data: bytes) -> None:
    said = ""
    try:
        for _, message in everything(data, format):
            assert decode_message(encode_json(message)) == message
    except ContextwrightError as error:
        said = str(error)
    assert "\n" not in said


SAMPLES: dict[str, Any] = {
    "chatgpt": CHATGPT,
    "claude": CLAUDE,
    "telegram": TELEGRAM,
    "port42": PORT42,
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "openai-finetuning": FINETUNING,
}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value: what holds it, and where in that."""
    if isinstance(value, dict):
        inner = [(value, key) for key in value]
    elif isinstance(value, list):
        inner = [(value, index) for index in range(len(value))]
    else:
        inner = []
    return inner + [place for holder, key in inner for place in places(holder[key])]


@given(data=st.data(), name=st.sampled_from(sorted(SAMPLES)), new=SHAPES)
def test_one_wrong_value_is_an_error_or_no_harm(data: st.DataObject, name: str, new: Any) -> None:
    sample = json.loads(json.dumps(SAMPLES[name]))
    holder, key = data.draw(st.sampled_from(places(sample)))
    holder[key] = new
    file = lines(sample) if name in LINES else json.dumps(sample).encode()
    try:
        found = everything(file, name)
    except ParseError:
        return
    for _, message in found:
        assert decode_message(encode_json(message)) == message


@pytest.mark.parametrize(("name", "data"), DOCUMENTS.items())
def test_a_document_cut_anywhere_is_refused(name: str, data: bytes) -> None:
    for cut in range(len(data)):
        with pytest.raises(ParseError, match="^x: "):
            everything(data[:cut], name)


@pytest.mark.parametrize(("name", "data"), LINES.items())
def test_lines_cut_anywhere_are_refused_or_shorter(name: str, data: bytes) -> None:
    whole = everything(data, name)
    for cut in range(len(data)):
        try:
            part = everything(data[:cut], name)
        except ParseError:
            continue
        assert data[cut - 1 : cut + 1] in (b"}\n", b"\n{", b"\n")
        assert part == whole[: len(part)]


def test_a_zip_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = write_zip(tmp_path / "s.zip", SLACK).read_bytes()
    path = tmp_path / "cut.zip"
    for cut in range(4, len(data), 7):
        path.write_bytes(data[:cut])
        with pytest.raises(ParseError, match="the zip is damaged"):
            read(path)


def test_a_zip_with_a_wrong_byte_is_refused_or_the_same(tmp_path: Path) -> None:
    original = write_zip(tmp_path / "s.zip", {"conversations.json": CHATGPT})
    data, whole = original.read_bytes(), read(original)
    path = tmp_path / "wrong.zip"
    for place in range(4, len(data), 5):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x21]) + data[place + 1 :])
        try:
            found = read(path)
        except ContextwrightError:
            continue
        assert found == whole


def test_bad_text_is_replaced_on_request(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = rb'{"messages": [{"role": "user", "content": "a\ud83d b\u0000 \\ud800 \ud83d\ude00"}]}'
    path.write_bytes(line + b"\n" + line + b"\n")
    with pytest.raises(ParseError, match=r"line 1: messages\[0\].content: .*surrogate"):
        read(path)
    source = importers.open_files(path)
    found = [m.text for one in importers.read(source, replace=True) for m in one.messages]
    assert found == ["a\ufffd b\ufffd \\ud800 😀"] * 2
    assert source.replaced == 4

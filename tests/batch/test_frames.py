"""Operations on a Daft dataframe: the library's results in a column."""

import json

import daft
import pytest

import contextwright as cw
from batch.data_sets import ANSWER, QUESTION, chat
from contextwright import batch
from contextwright.errors import UsageError

BODIES = [chat(number) for number in range(3)]


@pytest.fixture
def frame() -> daft.DataFrame:
    rows = [*map(json.dumps, BODIES), "{"]
    return daft.from_pydict({"n": [1, 2, 3, 4], "chat": rows})


def test_convert(frame: daft.DataFrame) -> None:
    rows = batch.convert(frame, "chat", target="anthropic", thinking="drop").to_pylist()
    assert [row["n"] for row in rows] == [1, 2, 3, 4]
    for body, row in zip(BODIES, rows, strict=False):
        expected = cw.convert(body, "openai-chat", "anthropic")
        assert row["result"]["document"].encode() == expected.json
        assert row["result"]["changes"] == [change.code for change in expected.changes]
    assert rows[3]["result"]["document"] is None
    assert json.loads(rows[3]["result"]["error"])["message"]


def test_build_check_and_count(frame: daft.DataFrame) -> None:
    frame = frame.limit(3)
    model = "claude-sonnet-5-5"
    frame = batch.build(frame, "chat", model=model, budget=900, target="anthropic-batch", id="n")
    frame = frame.select("n", frame["result"]["document"].alias("request"))
    rows = frame.to_pylist()
    payloads = [json.loads(row["request"]) for row in rows]
    assert [row["custom_id"] for row in payloads] == ["1", "2", "3"]
    built = cw.build(cw.parse(BODIES[0], "openai-chat"), "default", model=model, budget=900)
    assert payloads[0]["params"] == built.payload
    bodies = daft.from_pydict({"body": [json.dumps(row["params"]) for row in payloads]})
    for row in batch.check(bodies, "body", model=model).to_pylist():
        assert row["result"]["sound"]
    counts = [
        row["result"]["document"] for row in batch.count(bodies, "body", model=model).to_pylist()
    ]
    assert json.loads(counts[0])["tokens"] == cw.count(built.payload, model=model).tokens


def test_nested_columns() -> None:
    frame = daft.from_pydict({"messages": [[QUESTION], [QUESTION, ANSWER, QUESTION]]})
    rows = batch.convert(frame, "messages", source="chatml", target="gemini").to_pylist()
    expected = cw.convert([QUESTION], "chatml", "gemini")
    assert rows[0]["result"]["document"].encode() == expected.json


def test_wrong_calls(frame: daft.DataFrame) -> None:
    with pytest.raises(UsageError, match=r"no column 'text' \(columns: n, chat\)"):
        batch.convert(frame, "text", target="anthropic")
    with pytest.raises(UsageError, match="openai-batch needs ids"):
        batch.convert(frame, "chat", target="openai-batch")
    with pytest.raises(UsageError, match="budget cannot be 0 tokens"):
        batch.build(frame, "chat", model="gpt-4o", budget=0)
    with pytest.raises(UsageError, match="workers cannot be 0"):
        batch.convert(frame, "chat", target="anthropic", workers=0)
    with pytest.raises(UsageError, match="not a Daft dataframe: dict"):
        batch.convert({"chat": []}, "chat", target="anthropic")  # pyright: ignore

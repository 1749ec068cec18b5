"""The function between record batches does what the library does, row by row."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from batch.data_sets import ANSWER, BROKEN, QUESTION, chat
from contextwright.batch import Operation, operation_of, transform
from contextwright.documents.read import decode_row
from contextwright.errors import ContextwrightError, UsageError
from contextwright.importers.detection import format_of
from profiles import FAULT, examples
from samples.hostile import OWN
from strategies.bodies import MODELS, bodies

any_body = st.sampled_from(tuple(MODELS)).flatmap(bodies).map(msgspec.json.encode)
any_row = st.one_of(any_body, any_body, st.sampled_from(BROKEN), st.binary(max_size=40))


def rows_of(operation: Operation, *documents: Any, **columns: Any) -> list[dict[str, Any]]:
    return transform(pa.record_batch({"document": documents, **columns}), operation).to_pylist()


@examples(FAULT)
@given(st.lists(any_row, max_size=5), st.sampled_from(tuple(MODELS)))
def test_every_row_is_what_the_library_makes_of_it(rows: list[bytes], target: str) -> None:
    batch = pa.record_batch({"document": pa.array(rows, pa.large_binary())})
    found = transform(batch, operation_of("convert", target=target)).to_pylist()
    assert len(found) == len(rows)
    for data, row in zip(rows, found, strict=True):
        expected = converted(data, target)
        if isinstance(expected, ContextwrightError):
            assert row["document"] is None
            assert json.loads(row["error"])["message"] == expected.args[0]
        else:
            assert row["error"] is None
            assert row["document"].encode() == expected.json
            assert row["changes"] == [change.code for change in expected.changes]


def converted(data: bytes, target: str) -> cw.Rendered | ContextwrightError:
    """What the library makes of a row."""
    try:
        value = decode_row(data)
        return cw.convert(value, format_of(value), target)
    except ContextwrightError as error:
        return error


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"a": x}\n', "a: unexpected 'x' at column 7"),
        ('{\n"a": x}\n', "line 2: a: unexpected 'x' at column 6"),
    ],
)
def test_a_row_names_its_line_only_if_it_has_several(row: str, message: str) -> None:
    """Where a row stands in its file is not known here: line 1 would be the wrong one."""
    [found] = rows_of(operation_of("convert", target="gemini"), row)
    assert json.loads(found["error"]) == {
        "message": message,
        "path": "a",
        "hint": "expected a value",
    }


def test_every_operation() -> None:
    body = chat(1)
    model = "gpt-5.6-sol"
    [built] = rows_of(operation_of("build", model=model, recipes=("default",)), json.dumps(body))
    conversation = cw.parse(body, "openai-chat")
    expected = cw.build(conversation, "default", model=model)
    assert json.loads(built["document"]) == expected.payload
    [counted] = rows_of(operation_of("count", model=model), json.dumps(body))
    assert json.loads(counted["document"])["tokens"] == cw.count(body, model=model).tokens
    wrong = {"model": model, "messages": [{"role": "tool", "content": "x", "tool_call_id": "c"}]}
    [checked] = rows_of(operation_of("check", source="openai-chat"), json.dumps(wrong), id=["a"])
    problems = cw.check(wrong, "openai-chat")
    assert json.loads(checked["document"]) == {
        "id": "a",
        "errors": sum(problem.level == "error" for problem in problems),
        "warnings": sum(problem.level == "warning" for problem in problems),
        "problems": msgspec.to_builtins(problems),
    }
    assert not checked["sound"]
    simulation = operation_of("simulate", model=model, recipes=("default", "013"), budget=500)
    [simulated] = rows_of(simulation, json.dumps(body))
    played = cw.simulate(conversation, ["default", "013"], model=model, budget=500)
    assert json.loads(simulated["document"]) == {"recipes": [row.summary() for row in played]}


def test_recall_finds_what_the_newest_question_needs(tmp_path: Path) -> None:
    """The same as the library, by words, of the messages before the question alone."""
    said = ["I can't eat hazelnuts.", "The hotel is near the opera.", "What can't I eat?"]
    messages = [{"role": "user", "content": text} for text in said]
    body = {"messages": [*messages, {"role": "assistant", "content": "Hazelnuts."}]}
    operation = operation_of("recall", source="openai-chat", budget=300)
    [row] = rows_of(operation, json.dumps(body), id=["a"])
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        chat = store.conversation("chat")
        chat.add([cw.user(text) for text in said[:2]])
        expected = chat.recall(said[2], budget=300)
    assert expected.items[0].seq == 1
    assert json.loads(row["document"]) == {
        "id": "a",
        "confidence": round(expected.confidence, 4),
        "tokens": expected.tokens,
        "hits": [{"index": hit.seq - 1, "score": round(hit.score, 4)} for hit in expected],
        "text": expected.text,
    }
    for unasked in (
        [],
        [{"role": "assistant", "content": "Hello."}],
        [messages[0] | {"content": " "}],
    ):
        [row] = rows_of(operation, json.dumps({"messages": unasked}))
        assert json.loads(row["error"]) == {"message": "there is no question to recall for"}


def test_nested_columns_are_read_without_their_empty_fields() -> None:
    """A column of a table has every field that any of its rows has."""
    plain = {"messages": [QUESTION]}
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    calling = {"messages": [QUESTION, {"role": "assistant", "tool_calls": [call]}]}
    operation = operation_of("convert", source="openai-chat", target="anthropic")
    found = rows_of(operation, plain, calling, None)
    for document, row in zip((plain, calling), found, strict=False):
        assert row["document"].encode() == cw.convert(document, "openai-chat", "anthropic").json
    assert json.loads(found[2]["error"]) == {"message": "there is no document"}


def test_hostile_words_stay_words() -> None:
    words = [word for word in OWN if word.isprintable()]
    bodies = [{"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": w}]} for w in words]
    operation = operation_of("convert", source="openai-chat", target="openai-batch")
    ids = [f"a\n{number}" for number in range(len(words))]
    found = rows_of(operation, *map(json.dumps, bodies), id=ids)
    for id, body, row in zip(ids, bodies, found, strict=True):
        line = json.loads(row["document"])
        assert (line["custom_id"], line["body"]["messages"]) == (id, body["messages"])
        assert "\n" not in row["document"]


def test_an_empty_batch_and_one_without_documents() -> None:
    operation = operation_of("convert", target="aya")
    empty = pa.record_batch({"document": pa.array([], pa.string())})
    assert transform(empty, operation).num_rows == 0
    with pytest.raises(UsageError, match="there is no column 'document'"):
        transform(pa.record_batch({"text": ["x"]}), operation)


@pytest.mark.parametrize(
    ("kind", "fields", "fault"),
    [
        ("convert", {}, "convert needs a target"),
        ("convert", {"target": "nowhere"}, "unknown format 'nowhere'"),
        ("convert", {"target": "aya", "options": {"colour": 1}}, "no such option"),
        ("build", {"recipes": ("default",)}, "build needs a model"),
        ("build", {"model": "gpt-5.6-sol"}, "build needs a recipe"),
        ("count", {"source": "openai-batch"}, "unknown format 'openai-batch'"),
        ("fly", {}, "unknown operation 'fly'"),
    ],
)
def test_an_operation_that_cannot_work_is_refused(kind: Any, fields: Any, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        operation_of(kind, **fields)


def test_a_row_over_budget_says_what_would_do() -> None:
    operation = operation_of("build", model="gpt-5.6-sol", recipes=("default",), budget=1)
    [row] = rows_of(operation, json.dumps({"messages": [QUESTION, ANSWER, QUESTION]}))
    assert json.loads(row["error"])["minimum"] > 1

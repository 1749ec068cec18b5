"""Chat Completions: any value, the SDK's types, and recorded requests."""

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import completion_create_params
from pydantic import TypeAdapter

import contextwright as cw
from contextwright.wire.openai_chat.types import Request
from samples.chat_payloads import (
    ACCEPTED,
    GPT,
    JSON,
    odd,
    same,
    wild_bodies,
)

# --- laws -------------------------------------------------------------------------------------


@given(
    wild_bodies | odd,
    st.sampled_from((GPT, "gpt-5.6-sol", "o1-mini", "mistral-large-latest", "some-model")),
)
def test_anything_can_be_read_checked_and_written(data: Any, model: str) -> None:
    """Nothing but a ParseError comes out; what can be read can be written, legally."""
    cw.check(data, "openai-chat", model=model)
    try:
        conversation = cw.parse(data, "openai-chat")
    except cw.ParseError:
        return
    payload = cw.render(conversation, "openai-chat", model=model).payload
    problems = [
        problem
        for problem in cw.check(payload, "openai-chat", model=model)
        if problem.level == "error"
    ]
    assert [
        problem for problem in problems if problem.code not in ("OC-empty", "OC-json-word")
    ] == []


# --- against the SDK --------------------------------------------------------------------------

PARAMS = TypeAdapter(completion_create_params.CompletionCreateParamsNonStreaming)


def drained(value: Any) -> Any:
    """The SDK's types hold lazy iterators, which check nothing until they are read."""
    if isinstance(value, dict):
        return {key: drained(item) for key, item in value.items()}
    if isinstance(value, str | int | float | type(None)):
        return value
    return [drained(item) for item in value]


@pytest.mark.parametrize("payload", ACCEPTED, ids=range(len(ACCEPTED)))
def test_rendered_payloads_are_what_the_sdk_types_say(payload: JSON) -> None:
    rendered = cw.convert({**payload, "stream": False}, "openai-chat", "openai-chat").payload
    drained(PARAMS.validate_python(rendered))


def test_types_know_every_field_of_the_sdk() -> None:
    base = get_type_hints(completion_create_params.CompletionCreateParamsBase)
    assert set(get_type_hints(Request)) == {*base, "stream"}


# --- recorded requests ------------------------------------------------------------------------


def recorded(folder: Path) -> list[JSON]:
    lines = (folder / "wire" / "requests.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["api"] == "openai.chat"]


def test_accepted_recordings(data_folder: Path) -> None:
    """What the APIs answered with 200 is read, found faultless, and written back unchanged."""
    rows = [row for row in recorded(data_folder) if row["status"] == 200]
    assert len(rows) > 100
    for row in rows:
        request = row["request"]
        before = json.dumps(request)
        errors = [
            problem for problem in cw.check(request, "openai-chat") if problem.level == "error"
        ]
        rendered = cw.convert(request, "openai-chat", "openai-chat")
        assert (errors, rendered.changes) == ([], ()), row["source"]
        assert same(rendered.payload) == same(request), row["source"]
        assert json.dumps(request) == before


def test_refused_recordings(data_folder: Path) -> None:
    """What was refused for its structure is flagged, and repaired when written again."""
    rows = [row for row in recorded(data_folder) if row["status"] == 400]
    structural = [row for row in rows if "param" in row["error"]["error"]]
    assert structural
    for row in structural:
        request = row["request"]
        errors = [
            problem.path for problem in cw.check(request, "openai-chat") if problem.level == "error"
        ]
        assert row["error"]["error"]["param"] in errors
        again = cw.convert(request, "openai-chat", "openai-chat").payload
        assert [
            problem for problem in cw.check(again, "openai-chat") if problem.level == "error"
        ] == []

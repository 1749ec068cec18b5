"""The laws: what holds for every input, for every format."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import formats
from contextwright.formats import legalise
from profiles import FAULT, LAW, examples, often
from samples.native import PAYLOADS
from strategies.messages import MODELS, PROVIDERS, conversations, format_names
from strategies.traffic import FAULTS, any_traffic, clean, faulty, traffic

TARGETS = sorted(formats.NAMES)
PLACE = re.compile(r"messages\[(\d+)\]")
ESCAPED = re.compile(r'["\\\x00-\x1f]')
"""What is spelled differently in a result that arrives as JSON."""


def models_of(format: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from(MODELS.get(format, (None,)))


def errors(payload: object, format: str, model: str | None) -> list[str]:
    return [
        str(problem)
        for problem in cw.check(payload, format, model=model)
        if problem.level == "error"
    ]


@pytest.mark.parametrize("target", TARGETS)
def test_laws(target: str) -> None:
    """All laws on the same conversations: making them costs more than holding them."""

    reached: list[bool] = []

    @examples(LAW)
    @given(conversations | any_traffic, models_of(target))
    def laws(conversation: cw.Conversation, model: str | None) -> None:
        before = msgspec.to_builtins(conversation)
        rendered = cw.render(conversation, target, model=model)
        valid(rendered, target, model)
        comes_back(rendered, target, model)
        reached.append(lossless_or_said(rendered, conversation))
        whole_exchanges(rendered, target)
        pure(rendered, conversation, before, target, model)

    laws()
    assert often(reached)


def valid(rendered: cw.Rendered, target: str, model: str | None) -> None:
    """Whatever the history, the payload passes its provider's rules."""
    assert errors(rendered.payload, target, model) == []


def comes_back(rendered: cw.Rendered, target: str, model: str | None) -> None:
    """Reading a payload and writing it again gives the same payload."""
    again = cw.render(cw.parse(rendered.payload, target), target, model=model)
    assert again.payload == rendered.payload
    assert [change for change in again.changes if change.code.startswith("loss.")] == []


def lossless_or_said(rendered: cw.Rendered, conversation: cw.Conversation) -> bool:
    """Every text arrives, or a loss names its message; whether there was one that had to."""
    excused = {
        int(named[1])
        for change in rendered.changes
        if change.code.startswith("loss.") or change.code == "repair.surrogate"
        if (named := PLACE.match(change.path))
    }
    text = found_in(rendered.payload)
    bound = [
        words
        for place, message in enumerate(conversation.messages)
        if place not in excused
        for words in said(message)
        if words.strip()
    ]
    assert [words for words in bound if words not in text] == []
    return bool(bound)


def whole_exchanges(rendered: cw.Rendered, target: str) -> None:
    """Every call has exactly one result, every result its call."""
    if target not in PROVIDERS:
        return
    parsed = cw.parse(rendered.payload, target)
    calls = [call for message in parsed.messages for call in message.calls]
    results = [result for message in parsed.messages for result in message.results]
    assert len(calls) == len(results)
    if target != "gemini":  # where ids are optional
        answered = sorted(result.call_id or "" for result in results)
        assert sorted(call.id or "" for call in calls) == answered


def pure(
    rendered: cw.Rendered,
    conversation: cw.Conversation,
    before: object,
    target: str,
    model: str | None,
) -> None:
    """Same input, same bytes; and the input stays what it was, whatever was done with it."""
    assert msgspec.to_builtins(conversation) == before
    assert cw.render(conversation, target, model=model).json == rendered.json
    assert msgspec.json.encode(rendered.payload) == rendered.json


def said(message: cw.Message) -> Iterator[str]:
    """The texts of a message, and of the results in it."""
    for part in message.parts:
        if isinstance(part, cw.Text):
            yield part.text
        elif isinstance(part, cw.ToolResult):
            match part.content:
                case str():
                    yield part.content
                case dict():
                    yield from ESCAPED.split(found_in(part.content))
                case _:
                    yield from (piece.text for piece in part.content if isinstance(piece, cw.Text))


def found_in(payload: object) -> str:
    """All strings of a payload, one after another."""
    if isinstance(payload, str):
        return payload + "\n"
    if isinstance(payload, dict):
        return "".join(found_in(value) for value in payload.values())
    if isinstance(payload, list):
        return "".join(found_in(value) for value in payload)
    return ""


@pytest.mark.parametrize("target", TARGETS)
def test_valid_from_any_format(target: str) -> None:
    """A history that came through any other format is as good as one made here."""

    @given(conversations, format_names, models_of(target))
    def law(conversation: cw.Conversation, source: str, model: str | None) -> None:
        through = cw.parse(cw.render(conversation, source).payload, source)
        rendered = cw.render(through, target, model=model)
        assert errors(rendered.payload, target, model) == []

    law()


@given(conversations, st.sampled_from(PROVIDERS))
def test_without_repair_a_history_is_still_written(conv: cw.Conversation, target: str) -> None:
    assert cw.render(conv, target, repair=False).json


@given(conversations)
def test_our_own_format_keeps_everything(conversation: cw.Conversation) -> None:
    rendered = cw.render(conversation, "contextwright")
    if rendered.changes:
        assert {change.code for change in rendered.changes} == {"repair.surrogate"}
        return
    parsed = cw.parse(rendered.payload, "contextwright")
    assert msgspec.structs.replace(parsed, source=None) == conversation
    assert cw.render(parsed, "contextwright").payload == rendered.payload


class Unshortened:
    """Renders with the rules that are needed, then with all, and compares."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch = monkeypatch
        self.needed_rules = legalise.needed_rules
        self.reached: list[bool] = []

    def noted(self, messages: Any, target: Any, rules: Any) -> Any:
        needed, enveloped = self.needed_rules(messages, target, rules)
        self.reached[-1] = needed != rules
        return needed, enveloped

    def compare(self, conversation: cw.Conversation, target: str, model: str | None) -> None:
        self.reached.append(False)
        self.patch.setattr(legalise, "needed_rules", self.noted)
        quick = cw.render(conversation, target, model=model)
        if self.reached[-1]:
            self.patch.setattr(
                legalise, "needed_rules", lambda messages, target, rules: (rules, True)
            )
            assert cw.render(conversation, target, model=model) == quick


def usual_models(provider: str) -> st.SearchStrategy[str | None]:
    """Most often the model that signed the thinking."""
    signed = st.just(PAYLOADS[provider].get("model"))
    return signed | signed | models_of(provider)


@pytest.mark.parametrize("target", PROVIDERS)
def test_rules_left_out_would_change_nothing(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that a history seems not to need are left out; running them gives the same request."""
    unshortened = Unshortened(monkeypatch)

    @examples(LAW)
    @given(traffic(target) | clean(target), usual_models(target))
    def law(conversation: cw.Conversation, model: str | None) -> None:
        unshortened.compare(conversation, target, model)

    law()
    assert often(unshortened.reached)


@pytest.mark.parametrize("target", PROVIDERS)
def test_a_clean_history_is_left_alone(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules run where they change something, or a provider's own blocks have to be paired."""
    unshortened = Unshortened(monkeypatch)
    model = PAYLOADS[target].get("model")

    @given(clean(target))
    def law(conversation: cw.Conversation) -> None:
        parts = [part for message in conversation.messages for part in message.parts]
        has_work = any(isinstance(part, cw.Opaque) for part in parts)
        has_work |= bool(cw.render(conversation, target, model=model).changes)
        unshortened.compare(conversation, target, model)
        assert unshortened.reached[-1] or has_work

    law()


@pytest.mark.parametrize("target", PROVIDERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_is_overlooked(fault: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One fault in a history that is clean otherwise, so that nothing else calls for the rules."""
    unshortened = Unshortened(monkeypatch)

    @examples(FAULT)
    @given(faulty(target, fault), usual_models(target))
    def law(conversation: cw.Conversation, model: str | None) -> None:
        unshortened.compare(conversation, target, model)

    law()

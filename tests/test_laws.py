"""The laws: what holds for every input, for every format."""

import importlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright import formats, models
from contextwright.formats.openai_chat import fitting as openai_chat
from contextwright.formats.openai_responses import fitting as openai_responses
from contextwright.formats.rules import RULES, Rule, apply_rules
from contextwright.formats.survey import is_clean
from contextwright.formats.target import Target
from strategies import MODELS, PROVIDERS, conversations, format_names

TARGETS = sorted(formats.NAMES)
OWN_RULES: dict[str, tuple[Rule, ...]] = {
    "anthropic": (),
    "gemini": (),
    "openai-chat": (openai_chat.leave_out_refused,),
    "openai-responses": (openai_responses.leave_out_refused,),
}


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

    @given(conversations, models_of(target))
    def laws(conversation: cw.Conversation, model: str | None) -> None:
        before = msgspec.to_builtins(conversation)
        rendered = cw.render(conversation, target, model=model)
        valid(rendered, target, model)
        comes_back(rendered, target, model)
        lossless_or_said(rendered, conversation)
        whole_exchanges(rendered, target)
        pure(rendered, conversation, before, target, model)

    laws()


def valid(rendered: cw.Rendered, target: str, model: str | None) -> None:
    """Whatever the history, the payload passes its provider's rules."""
    assert errors(rendered.payload, target, model) == []


def comes_back(rendered: cw.Rendered, target: str, model: str | None) -> None:
    """Reading a payload and writing it again gives the same payload."""
    again = cw.render(cw.parse(rendered.payload, target), target, model=model)
    assert again.payload == rendered.payload
    assert [change for change in again.changes if change.code.startswith("loss.")] == []


def lossless_or_said(rendered: cw.Rendered, conversation: cw.Conversation) -> None:
    """Every word of a user or a tool arrives, or a change says that it does not."""
    codes = {change.code for change in rendered.changes}
    if not any(code.startswith("loss.") or code == "repair.surrogate" for code in codes):
        text = found_in(rendered.payload)
        for words in said(conversation):
            assert words in text


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


def said(conversation: cw.Conversation) -> list[str]:
    """The words of people and tools that must arrive, where nothing is reported lost."""
    words: list[str] = []
    for message in conversation.messages:
        for part in message.parts:
            if isinstance(part, cw.Text):
                words.append(part.text)
            elif isinstance(part, cw.ToolResult) and isinstance(part.content, str):
                words.append(part.content)
    return words


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


@pytest.mark.parametrize("target", PROVIDERS)
def test_what_needs_no_rule_is_changed_by_none(target: str) -> None:
    """Where `survey` finds nothing to do, running all rules gives the same payload."""
    module = importlib.import_module(f"contextwright.formats.{target.replace('-', '_')}.format")
    rules = (*OWN_RULES[target], *RULES)

    @given(conversations, models_of(target))
    def law(conversation: cw.Conversation, model: str) -> None:
        facts = models.find(model)
        goal = Target(module.TRAITS, facts, reply_tools=conversation.reply_tools)
        if is_clean(conversation.messages, goal, set()):
            draft, changes = apply_rules(conversation.messages, goal, rules)
            ruled = tuple(message for _, message in draft)
            again = msgspec.structs.replace(conversation, messages=ruled)
            assert changes == []
            assert (
                cw.render(again, target, model=model).json
                == cw.render(conversation, target, model=model).json
            )

    law()

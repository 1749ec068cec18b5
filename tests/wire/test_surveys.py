"""`check` lists the same problems with and without the quick look at a request."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.wire.anthropic import rules as anthropic
from contextwright.wire.gemini import rules as gemini
from contextwright.wire.openai_chat import rules as openai_chat
from contextwright.wire.openai_responses import rules as openai_responses
from fuzzing.readers import bodies as samples
from golden_files import compare_digests
from profiles import BODY, examples
from samples.native import PAYLOADS
from strategies.bodies import MODELS, bodies
from strategies.bodies.junk import JUNK, places
from strategies.traffic import traffic

RULES: dict[str, Any] = {
    "anthropic": anthropic,
    "gemini": gemini,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}
ODD: tuple[Any, ...] = (
    *JUNK,
    " \n",
    "\x01" * 999,
    [False] * 999,
    "\ud800",
    {"a": "\udc00"},
    {"a": {1}},
    {None: 1},
    float("nan"),
)
"""Also values that only Python has."""


@st.composite
def requests(draw: st.DrawFn, api: str) -> dict[str, Any]:
    """A request: rendered or of the API's own shapes, with up to three changes to it."""
    if draw(st.booleans()):
        body = copy.deepcopy(cw.render(draw(traffic(api)), api).payload)
    else:
        body = copy.deepcopy(draw(bodies(api)))
    for _ in range(draw(st.integers(0, 3))):
        found = list(places(body))
        if not found:
            break
        holder, key = found[draw(st.integers(0, len(found) - 1))]
        match draw(st.sampled_from(("put", "leave out", "repeat", "swap"))):
            case "put":
                holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "leave out":
                del holder[key]
            case "repeat" if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case _:
                other, place = found[draw(st.integers(0, len(found) - 1))]
                holder[key] = copy.deepcopy(other[place])
    return body


@pytest.mark.parametrize("api", RULES)
def test_what_a_survey_accepts_breaks_no_rule(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted: list[bool] = []
    survey = RULES[api].survey

    @examples(BODY)
    @given(requests(api), st.sampled_from(MODELS[api]))
    def law(body: dict[str, Any], model: str) -> None:
        def refuse(*given: Any) -> None:
            accepted.append(survey(*given) is not None)

        quick = cw.check(body, api, model=model)
        monkeypatch.setattr(RULES[api], "survey", refuse)
        whole = cw.check(body, api, model=model)
        monkeypatch.undo()
        assert quick == whole

    law()
    assert sum(accepted) * 20 > len(accepted)


@examples(BODY)
@given(requests("anthropic"))
def test_no_request_is_longer_than_a_survey_says(body: dict[str, Any]) -> None:
    found = anthropic.survey(body)
    assert found is None or len(msgspec.json.encode(body)) <= found.most_bytes


def wrong_in_one_place(body: dict[str, Any]) -> Iterator[tuple[object, Iterator[None]]]:
    """Every place of a request; with each step of what comes with it, an odd value is there."""

    def put(holder: Any, key: Any) -> Iterator[None]:
        kept = holder[key]
        for odd in (None, "", "zzz", 0, [], ["x"], {}, {"type": "zzz"}, [kept], f"{kept}"):
            holder[key] = odd
            yield
        holder[key] = kept

    for number, (holder, key) in enumerate(list(places(body))):
        yield (number, key), put(holder, key)


@pytest.mark.parametrize("api", RULES)
def test_what_is_told_of_an_odd_value_anywhere(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS[api][0]

    def checked_twice(body: dict[str, Any]) -> list[cw.Problem]:
        quick = cw.check(body, api, model=model)
        with monkeypatch.context() as patch:
            patch.setattr(RULES[api], "survey", lambda *given: None)
            assert quick == cw.check(body, api, model=model)
        return quick

    bodies = copy.deepcopy(PAYLOADS[api]), json.loads(samples(api)[0])
    compare_digests(
        f"odd-{api}",
        (
            (place, [checked_twice(body) for _ in wrong])
            for body in bodies
            for place, wrong in wrong_in_one_place(body)
        ),
    )

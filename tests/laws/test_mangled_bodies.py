"""Bodies in which anything may stand anywhere are converted, checked and counted, or refused."""

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.errors import ContextwrightError
from contextwright.store.rows.validation import bodies_of, replace_invalid
from profiles import BODY, examples
from strategies.bodies import MODELS, bodies
from strategies.bodies.junk import JUNK, places

APIS = ("anthropic", "gemini", "openai-chat", "openai-responses")


@st.composite
def mangled(draw: st.DrawFn, api: str) -> dict[str, Any]:
    """A body of an API with junk, or a piece of its own, in one to three places.

    It replaces what stands there, or stands beside it, under the name of another field.
    """
    body = copy.deepcopy(draw(bodies(api)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(body))
        if found:
            holder, key = found[draw(st.integers(0, len(found) - 1))]
            other, name = found[draw(st.integers(0, len(found) - 1))]
            own = str(key) != "model" and draw(st.booleans())
            junk = copy.deepcopy(other[name] if own else draw(st.sampled_from(JUNK)))
            if isinstance(holder, list) and draw(st.booleans()):
                holder.insert(key, junk)
            elif isinstance(holder, dict) and isinstance(name, str) and draw(st.booleans()):
                holder[name] = junk
            else:
                holder[key] = junk
    return body


@pytest.mark.parametrize("api", APIS)
def test_nothing_but_our_own_errors(api: str) -> None:
    @examples(BODY)
    @given(mangled(api))
    def law(body: dict[str, Any]) -> None:
        before = copy.deepcopy(body)
        problems = cw.check(body, api, model=MODELS[api][0])
        for target in (*APIS, "chatml", "contextwright"):
            with suppress(ContextwrightError):
                made = cw.convert(body, api, target)
                faults = cw.check(made.payload, target) if target in APIS else []
                assert [str(one) for one in faults if one.level == "error"] == []
        said: tuple[cw.Message, ...] = ()
        with suppress(ContextwrightError):
            said = cw.parse(body, api).messages
        bodies_of(replace_invalid(said)[0])  # whatever can be read can be stored
        with suppress(ContextwrightError):
            counted = cw.count(body, model=MODELS[api][0], format=api)
            assert not (counted.exact and any(p.code == "T-type" for p in problems))
        assert body == before

    law()

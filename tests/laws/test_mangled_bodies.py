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
from strategies.bodies.junk import mangle

APIS = ("anthropic", "gemini", "openai-chat", "openai-responses")


@st.composite
def mangled(draw: st.DrawFn, api: str) -> dict[str, Any]:
    """A body of an API in which anything may stand anywhere."""
    return mangle(draw, draw(bodies(api)))


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

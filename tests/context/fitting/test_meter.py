"""What a message costs before a request is made."""

from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.fitting.meter import TokenMeter
from contextwright.models import find
from contextwright.tokens.pieces import outline
from strategies.runs import TARGETS

METERS = [TokenMeter(format, find(model)) for format, model in TARGETS]
texts = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(categories=["Cs", "Zs", "Ll"]), max_size=6),
    st.sampled_from(("", " \n", "<|im_end|>", "half \ud83d of it", "a text in the place of any")),
)
messages = st.builds(
    cw.Message,
    st.sampled_from(("user", "assistant", "system")),
    texts.map(lambda text: (cw.Text(text),)),
    kind=st.sampled_from(("message", "summary")),
    sent_at=st.sampled_from((None, "2026-01-01")),
    pinned=st.booleans(),
)


@given(messages, st.sampled_from(METERS))
def test_text_alone_costs_what_its_request_does(message: cw.Message, meter: TokenMeter) -> None:
    rendered = cw.render(message, meter.format, model=meter.model, repair=False)
    pricer = TokenMeter(meter.format, meter.model)._pricer  # pyright: ignore[reportPrivateUsage]
    found = [one for one in outline(rendered.payload, meter.format) if one.place != "request"]
    assert meter.cost(message) == pricer.most(found)

"""A pricer remembers the messages it has met."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.models import find
from contextwright.text.json import encode_json
from contextwright.tokens.count import Pricer
from contextwright.tokens.pieces import Turn, outline
from samples.counts import FORMATS, count, request_of


@pytest.mark.parametrize("format", FORMATS)
@given(texts=st.lists(st.sampled_from(("Hi", "Привіт", "x = 1\n", "")), min_size=1, max_size=6))
def test_a_message_costs_the_same_when_it_comes_again(format: str, texts: list[str]) -> None:
    payload = request_of(format, texts)
    model = find(FORMATS[format])
    pricer = Pricer(model, format, model.tokenizer)
    found = outline(payload, format)
    bodies = {one.place: encode_json(one.value) for one in found if isinstance(one, Turn)}
    counts = [pricer.count(found, bodies=bodies) for _ in range(2)]
    assert counts == [count(payload, format)] * 2

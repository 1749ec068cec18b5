"""Inputs that fuzzing found: a reader takes them, or says what is wrong with them."""

from random import Random

import pytest

from fuzzing.corpus import kept_inputs
from fuzzing.mutations import mutated
from fuzzing.readers import all_readers, attempt

READERS = all_readers()


@pytest.mark.parametrize("name", READERS)
def test_nothing_but_our_own_errors(name: str) -> None:
    reader, random = READERS[name], Random(name)
    inputs = [*reader.samples, *kept_inputs(name)]
    for data in inputs:
        attempt(reader, data)
    for _ in range(20):
        attempt(reader, mutated(random.choice(inputs), inputs, random))

"""Inputs that fuzzing found: a reader takes them, or says what is wrong with them.

What becomes of each is held by a digest, so that no change of behaviour goes by unnoticed.
"""

from random import Random

import pytest

from fuzzing.corpus import kept_inputs
from fuzzing.mutations import mutated
from fuzzing.readers import all_readers, attempt
from golden_files import compare_digests

READERS = all_readers()


@pytest.mark.parametrize("name", READERS)
def test_what_becomes_of_each_input(name: str) -> None:
    reader, random = READERS[name], Random(name)
    inputs = [*reader.samples, *kept_inputs(name)]
    compare_digests(name, ((data, attempt(reader, data)) for data in inputs))
    for _ in range(20):
        attempt(reader, mutated(random.choice(inputs), inputs, random))

"""The nearest vectors of a conversation, and of many, as comparing each of them finds them."""

from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

from contextwright.recall.vectors.matrix import ROUNDING_DIGITS, ConversationMatrix, TenantMatrix
from contextwright.recall.vectors.query import CentredQuery, Vectors
from contextwright.recall.vectors.rows import FloatRows

WIDTH = 4
kinds = st.integers(0, 4)
"""Which of five vectors: many messages are equally near."""
talks = st.lists(st.lists(kinds, min_size=1, max_size=3), min_size=1, max_size=5)
"""The vectors of each message of a conversation."""


def vectors_of(kinds: list[int]) -> Vectors:
    made = numpy.random.default_rng(1).normal(size=(5, WIDTH))
    made /= numpy.linalg.norm(made, axis=1)[:, None]
    return made.astype(numpy.float32)[kinds]


def rows_of(talk: list[list[int]]) -> tuple[numpy.ndarray, Vectors]:
    """The rows of a conversation: the number of a message, from 1, for each of its vectors."""
    seqs = [seq for seq, kinds in enumerate(talk, 1) for _ in kinds]
    return numpy.array(seqs, numpy.int32), vectors_of([kind for kinds in talk for kind in kinds])


def nearness(kinds: list[int], query: CentredQuery) -> float:
    """As near as the nearest of some vectors."""
    vectors = vectors_of(kinds)
    return float(query.cosines(vectors, query.centred_norms(vectors)).round(ROUNDING_DIGITS).max())


@given(st.lists(talks, max_size=3), kinds, st.integers(0, 4), st.data())
def test_the_nearest_of_many_conversations(
    conversations: list[list[list[int]]], asked: int, most: int, data: st.DataObject
) -> None:
    """However they came, with messages that were there already; of equal ones the newer first."""
    pool, query = TenantMatrix(FloatRows(WIDTH)), CentredQuery(vectors_of([asked])[0])
    for number, talk in enumerate(conversations):
        cut = data.draw(st.integers(0, len(talk)))
        for stop in (cut, len(talk)):
            pool.append(number, 0, stop, *rows_of(talk[:stop]))
    near = {
        (number, seq): nearness(kinds, query)
        for number, talk in enumerate(conversations)
        for seq, kinds in enumerate(talk, 1)
    }
    without = data.draw(st.sets(st.sampled_from([*near]))) if near else set[tuple[int, int]]()
    found = pool.nearest(query, most, without)
    order = sorted(near.keys() - without, key=lambda one: (-near[one], -one[1], -one[0]))
    assert found == [(place, near[place]) for place in order[:most]]


@given(talks, kinds, st.integers(0, 6), st.integers(0, 6), st.integers(0, 5))
def test_the_nearest_of_a_conversation(
    talk: list[list[int]], asked: int, first: int, last: int, cut: int
) -> None:
    matrix, query = (
        ConversationMatrix(FloatRows(WIDTH), WIDTH),
        CentredQuery(vectors_of([asked])[0]),
    )
    for stop in (min(cut, len(talk)), len(talk)):
        matrix.append(stop, *rows_of(talk[:stop]))
    seqs, vectors = rows_of(talk)
    assert len(matrix) == len(seqs)
    assert numpy.allclose(matrix.sum, vectors.sum(0), atol=1e-5)
    numbers, cosines = matrix.scores(query, first, last, 3)
    assert dict(zip(numbers.tolist(), cosines.round(ROUNDING_DIGITS).tolist(), strict=True)) == {
        seq: nearness(kinds, query) for seq, kinds in enumerate(talk, 1) if first <= seq <= last
    }

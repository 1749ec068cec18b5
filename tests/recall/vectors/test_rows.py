"""Vectors as codes: nearly the same cosines, and nearly the same nearest ones."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.recall.vectors import rows
from contextwright.recall.vectors.query import CentredQuery, Vectors
from contextwright.recall.vectors.rows import FloatRows, QuantisedRows


def made(seed: int, count: int, width: int) -> Vectors:
    """Vectors of length 1 around fifty subjects, with much in common."""
    chance = numpy.random.default_rng(seed)
    subjects = chance.normal(size=(50, width))
    common = 3 * chance.normal(size=width)
    vectors = (
        common + subjects[chance.integers(50, size=count)] + chance.normal(size=(count, width))
    )
    vectors /= numpy.linalg.norm(vectors, axis=1)[:, None]
    return vectors.astype(numpy.float32)


@given(
    st.integers(0, 99),
    st.integers(1, 300),
    st.sampled_from((1, 24, 64, 100)),
    st.integers(0, 300),
    st.booleans(),
)
def test_codes_have_nearly_the_same_cosines(
    seed: int, count: int, width: int, cut: int, has_mean: bool
) -> None:
    """However they are appended, for any part of them."""
    vectors = made(seed, count, width)
    whole, codes = FloatRows(width), QuantisedRows(width)
    for one in (whole, codes):
        one.append(vectors[:cut])
        one.append(vectors[cut:])
    assert len(whole) == len(codes) == count
    start, stop = sorted((cut % (count + 1), count))
    query = (
        CentredQuery(vectors[0], vectors.sum(0), count) if has_mean else CentredQuery(vectors[0])
    )
    places, cosines = codes.nearest(query, start, stop, 10)
    exact_places, exact = whole.nearest(query, start, stop, 10)
    assert places.tolist() == exact_places.tolist()
    lengths = query.centred_norms(vectors[start:stop])
    assert numpy.all(numpy.abs(cosines - exact) * lengths <= 0.02)


@pytest.mark.parametrize("has_mean", [False, True])
def test_signs_find_the_nearest(monkeypatch: pytest.MonkeyPatch, has_mean: bool) -> None:
    """At least nine of the ten nearest of 20,000 are among a fiftieth of them."""
    monkeypatch.setattr(rows, "MIN_CANDIDATES", 400)
    vectors = made(1, 20_000, 256)
    codes = QuantisedRows(256, 10_000)
    codes.append(vectors[:5_000])
    codes.append(vectors[5_000:])
    found = 0
    for asked in made(1, 20_020, 256)[20_000:]:
        query = (
            CentredQuery(asked, vectors.sum(0), len(vectors)) if has_mean else CentredQuery(asked)
        )
        exact = query.cosines(vectors, query.centred_norms(vectors))
        places, cosines = codes.nearest(query, 0, len(vectors), 10)
        assert len(places) < 1_000
        nearest = places[numpy.argsort(-cosines)[:10]]
        found += len({*nearest.tolist()} & {*numpy.argsort(-exact)[:10].tolist()})
    assert found >= 180

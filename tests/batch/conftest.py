"""Fixtures of batch tests."""

import pytest

from contextwright.batch import inputs


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide data sets of a few kilobytes too."""
    monkeypatch.setattr(inputs, "MIN_PIECE", 1_000)

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples in every run, so that a commit passes or fails for what it changed; a plain
# `pytest` tries new ones each time, and what it finds becomes a case of its own.
settings.register_profile(
    "ci", parent=settings.get_profile("quick"), max_examples=2_000, derandomize=True
)
settings.load_profile("ci" if os.environ.get("CI") else "quick")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real public data to measure with; it is not part of the project."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CONTEXTWRIGHT_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no recorded data here; name a folder in CONTEXTWRIGHT_DATA")
    return folder

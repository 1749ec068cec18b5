"""How many examples a law is tried on: five profiles, and scales for what an example costs.

`quick` is the README's command, `default` is `./check`, `ci` is the deep run of `.ci/run`, which
draws the same examples every time, so that a commit passes or fails for what it changed. `hunt`
looks for what they miss, in longer than a test may take otherwise:
`uv run pytest --hypothesis-profile hunt --timeout 0 tests/laws/test_translation.py`.
`mutants` is for `tests/mutation`. `--hypothesis-profile` chooses another.
"""

import os
from collections.abc import Sequence
from math import sqrt

from hypothesis import HealthCheck, Phase, settings

LAW = 3.0
"""A promise of the README: tried more often than anything else."""
FAULT = 0.3
"""One of many variants of a law, each tried for itself."""
BODY = 1.0
"""A whole request, translated to every API: dearer than others, and worth it."""
STORE = 0.1
"""Every example opens a store, or builds dozens of contexts."""

ENOUGH = 0.3
"""The share of a law's examples that have to reach its assertion."""

FAILING = (Phase.explicit, Phase.generate)
"""Whether a law fails, not on which example best."""


def register() -> None:
    """Make the profiles known and load the one this run asks for."""
    common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("quick", common, max_examples=25)
    settings.register_profile("default", common, max_examples=100)
    settings.register_profile("hunt", common, max_examples=5_000)
    settings.register_profile("ci", common, max_examples=300, derandomize=True)
    settings.register_profile("mutants", common, max_examples=25, derandomize=True, phases=FAILING)
    settings.load_profile("ci" if os.environ.get("CI") else "quick")


def examples(scale: float) -> settings:
    """The settings of a test whose examples are dearer or worth more than others."""
    return settings(max_examples=max(2, round(settings().max_examples * scale)))


def often(reached: Sequence[bool]) -> bool:
    """Whether enough examples reached an assertion; a few examples may be fewer by chance.

    Three standard deviations are allowed: 1 of 25 examples is enough, and 67 of 300 are.
    """
    expected = ENOUGH * len(reached)
    return sum(reached) >= expected - 3 * sqrt(expected * (1 - ENOUGH))

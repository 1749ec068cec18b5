"""How the constants of `rates.toml`, and the bounds, hold on requests they were not fitted to.

A request's cost is linear in the constants: the number of pieces of each kind times its fixed
price, plus the tokens of its text times the tokenizer's factor. `cross_validated` fits them to a
part of the requests, from neutral values and without the shipped ones, and counts the rest.
`beyond_tightest` does the same for bounds: the tightest that hold on a part, tried on the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct

from contextwright.models import Model
from contextwright.tokens.count import Count, count_pieces
from contextwright.tokens.pieces import Piece
from contextwright.tokens.rates import rates_of, tables, tokenizer_facts

FOLDS = 5
ROUNDS = 40
RIDGE = 1e-6
"""How much a constant that few requests speak about is held to its neutral value."""


class Sample(Struct):
    """A recorded request as a sum: `base` and, for each constant, how often it is charged."""

    group: str
    charged: dict[str, float]
    shipped: dict[str, float]
    base: float
    actual: int

    def cost(self, constants: dict[str, float]) -> float:
        return self.base + sum(times * constants[name] for name, times in self.charged.items())


def sample_of(
    found: Sequence[Piece], model: Model, *, format: str, count: Count, actual: int
) -> Sample:
    """A counted request, taken apart into what is fitted and what is not."""
    facts = tokenizer_facts(model.tokenizer)
    rates = rates_of(model.rates, format, model.tokenizer)
    kinds = Counter[str](piece.kind for piece in found)
    kinds["tool"] = sum(len(piece.value) for piece in found if piece.kind == "tools")
    charged = {kind: float(kinds[kind]) for kind in rates.fixed if kinds[kind]}
    shipped = {kind: rates.fixed[kind] for kind in charged}
    words = count.tokens - sum(times * shipped[kind] for kind, times in charged.items())
    # Providers say what their tool prompt costs each model: only those differ within a tokenizer.
    own = ("tools", "forced")
    charged = {name_of(kind, model, own): times for kind, times in charged.items()}
    shipped = {name_of(kind, model, own): price for kind, price in shipped.items()}
    if not facts.symbol:
        return Sample(f"{model.rates}  {format}", charged, shipped, words, actual)
    bare = count_pieces(found, model, format=format, tokenizer=facts.vocabulary).tokens
    tokens = bare - (count.tokens - words)
    charged |= {"factor": tokens, "symbol": (words - facts.factor * tokens) / facts.symbol}
    shipped |= {"factor": facts.factor, "symbol": facts.symbol}
    return Sample(f"{model.tokenizer}  {format}", charged, shipped, 0.0, actual)


def name_of(kind: str, model: Model, own: Iterable[str]) -> str:
    return f"{model.rates} {kind}" if kind in own else kind


def neutral(name: str) -> float:
    """Where a fit starts: the constants of a model nobody has measured."""
    if name in ("factor", "symbol"):
        return float(name == "factor")
    return tables().rates["generic"].fixed.get(name.rpartition(" ")[2], 0.0)


def fitted(samples: Sequence[Sample]) -> dict[str, float]:
    """The constants with the least sum of relative errors, by least squares weighted anew."""
    names = sorted({name for sample in samples for name in sample.charged})
    start = {name: neutral(name) for name in names}
    constants = dict(start)
    for _ in range(ROUNDS):
        matrix = [[RIDGE * (row == column) for column in names] + [0.0] for row in names]
        for sample in samples:
            missed = abs(sample.actual - sample.cost(constants))
            weight = 1 / (sample.actual * max(missed, 0.01))
            wanted = sample.actual - sample.cost(start)
            times = [sample.charged.get(name, 0.0) for name in names]
            for row, left in enumerate(times):
                if left:
                    for column, right in enumerate(times):
                        matrix[row][column] += weight * left * right
                    matrix[row][-1] += weight * left * wanted
        constants = {
            name: start[name] + step for name, step in zip(names, solved(matrix), strict=True)
        }
    return {name: rounded(name, value) for name, value in constants.items()}


def rounded(name: str, value: float) -> float:
    return round(value, 3) if name in ("factor", "symbol") else float(round(value))


def solved(matrix: list[list[float]]) -> list[float]:
    """The solution of a system of linear equations, the right side in the last column."""
    for pivot in range(len(matrix)):
        best = max(range(pivot, len(matrix)), key=lambda row: abs(matrix[row][pivot]))
        matrix[pivot], matrix[best] = matrix[best], matrix[pivot]
        for row in range(len(matrix)):
            if row != pivot and (share := matrix[row][pivot] / matrix[pivot][pivot]):
                pairs = zip(matrix[row], matrix[pivot], strict=True)
                matrix[row] = [value - share * above for value, above in pairs]
    return [row[-1] / row[index] for index, row in enumerate(matrix)]


class Fit(Struct):
    """Relative errors of a group: as shipped, fitted to all rows, on rows not fitted to."""

    group: str
    constants: int
    shipped: list[float]
    fitted: list[float]
    unseen: list[float]


def cross_validated(samples: Iterable[Sample]) -> list[Fit]:
    """Every group with enough requests, fitted to four fifths and tried on the last, five times."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.group].append(sample)
    return [fit(name, group) for name, group in sorted(groups.items()) if len(group) >= 2 * FOLDS]


def fit(name: str, group: Sequence[Sample]) -> Fit:
    names = {name for sample in group for name in sample.charged}
    as_shipped = [error(sample, sample.shipped) for sample in group]
    to_all = fitted(group)
    to_others: list[float] = []
    for fold in range(FOLDS):
        held = group[fold::FOLDS]
        rest = [sample for place, sample in enumerate(group) if place % FOLDS != fold]
        start = {name: neutral(name) for name in names}
        to_others += map(partial(error, constants=start | fitted(rest)), held)
    return Fit(name, len(names), as_shipped, [error(one, to_all) for one in group], to_others)


def beyond_tightest(uses: Sequence[float]) -> int:
    """Count the requests beyond bounds that were drawn as tight as the other four fifths allow.

    A use is the share of its bound that a request needed; above 1 it lies beyond.
    """
    found = 0
    for fold in range(FOLDS):
        rest = [use for place, use in enumerate(uses) if place % FOLDS != fold]
        found += sum(use > max(rest, default=0.0) for use in uses[fold::FOLDS])
    return found


def error(sample: Sample, constants: dict[str, float]) -> float:
    return abs(round(sample.cost(constants)) - sample.actual) / sample.actual

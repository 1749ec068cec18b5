"""The neural network of the multilingual embedder, in numpy.

The embeddings of the pieces, and what convolutions over two, three and five of them yield, are
added up and projected to 512 numbers. The weights are in a compressed file. Most of it is the
embedding table of 128,000 pieces, the frequent ones first. Unpacking all of it takes half a second,
so it is unpacked as far as needed; a question needs a tenth.
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
"""The shape of the embedding table: piece n is in chunk n % CHUNKS, row n // CHUNKS."""
CHANNELS = 256
"""The numbers of each piece that a convolution works on."""
KERNELS = ((2, 0), (3, 1), (5, 2))
"""The convolution kernels: how many pieces each covers, and how many of them come before."""
BEFORE, BEHIND = 2, 2
"""Maximum pieces that a kernel covers before and after its own."""
BATCH_PIECES = 384
"""Pieces of a batch: enough to read the weights seldom, few enough for the processor's cache."""
READ_BYTES = 1 << 14
"""Compressed bytes that are unpacked at once."""
HEADER_BYTES = 30
"""Bytes of a file's header in a zip archive, without its name."""


class Encoder:
    """The network: returns vectors of texts that are given as pieces.

    Args:
        path: the file of the weights.
    """

    def __init__(self, path: Path) -> None:
        archive = Archive(path)
        self._table = Table([archive.stream(f"q{number}") for number in range(1, CHUNKS + 1)])
        names = [name for name in archive.names if not name.startswith("q")]
        self._weights: Mapping[str, Any] = {name: archive.array(name) for name in names}
        self._narrow, self._narrow_base, self._scale, self._shift = (
            self._all_kernels(name) for name in ("proj{}", "proj_b{}", "ln_g{}", "ln_b{}")
        )
        self._epsilon = float(self._weights["eps"])
        self._threads: Any = ThreadpoolController()

    def __call__(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the vector of each text; there must be at least one text, each with pieces."""
        # Batches are small: further threads would only use up the processor while they wait.
        with self._threads.limit(limits=1, user_api="blas"):
            return numpy.concatenate([self._vectors(some) for some in batches(texts)])

    def _all_kernels(self, name: str) -> Vectors:
        """Return the weights of all kernels side by side."""
        return numpy.concatenate([self._weights[name.format(size)] for size, _ in KERNELS], axis=-1)

    def _vectors(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of a batch of texts."""
        weights = self._weights
        lengths = numpy.array([len(text) for text in texts])
        starts = numpy.cumsum(lengths) - lengths
        features = self._features(numpy.fromiter(chain.from_iterable(texts), int), starts, lengths)
        sums = numpy.add.reduceat(features, starts, axis=0) @ weights["cnn_W"]
        counts = lengths.astype(numpy.float32)[:, None]
        means = (sums + counts * weights["cnn_b"]) * numpy.reciprocal(numpy.sqrt(counts))
        first = relu(means @ weights["d0"])
        second = relu(means @ weights["p1"] + first @ weights["d1"])
        third = relu(second @ weights["d2"])
        result = numpy.tanh(second @ weights["p3"] + third @ weights["d3"])
        squares = numpy.einsum("ij,ij->i", result, result)
        return result * numpy.reciprocal(numpy.sqrt(numpy.maximum(squares, self._epsilon)))[:, None]

    def _features(
        self, pieces: NDArray[numpy.int_], starts: NDArray[Any], lengths: NDArray[Any]
    ) -> Vectors:
        """Return the features of each piece: its embedding, and the output of each convolution."""
        weights = self._weights
        chunks = pieces % CHUNKS
        own = self._table.rows(pieces) * weights["scale"][chunks, None]
        own += weights["lo"][chunks, None]
        narrow = own @ self._narrow + self._narrow_base
        narrow = layer_norm(narrow, self._scale, self._shift, self._epsilon)
        around = neighbour_indices(starts, lengths)
        seen = [own]
        for place, (size, before) in enumerate(KERNELS):
            within = narrow[:, place * CHANNELS : (place + 1) * CHANNELS]
            columns = around[:, BEFORE - before : BEFORE - before + size]
            for name in ("1", "2"):
                within = within + relu(
                    gather(within, columns) @ weights[f"w{name}_{size}"]
                    + weights[f"b{name}_{size}"]
                )
            seen.append(within)
        features = numpy.concatenate(seen, axis=1)
        return layer_norm(features, weights["ln_g"], weights["ln_b"], self._epsilon)


def batches(texts: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    """Yield texts in batches of limited size."""
    some: list[Sequence[int]] = []
    count = 0
    for text in texts:
        if some and count + len(text) > BATCH_PIECES:
            yield some
            some, count = [], 0
        some.append(text)
        count += len(text)
    yield some


def neighbour_indices(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[numpy.int_]:
    """Return the indices of the pieces around each piece.

    Indices outside its text are the number of pieces, which stands for zeros.
    """
    total = int(lengths.sum())
    places = numpy.arange(total)[:, None] + numpy.arange(-BEFORE, BEHIND + 1)
    first = numpy.repeat(starts, lengths)[:, None]
    last = numpy.repeat(starts + lengths, lengths)[:, None]
    return numpy.where((places >= first) & (places < last), places, total)


def gather(rows: Vectors, places: NDArray[numpy.int_]) -> Vectors:
    """Return the rows at indices side by side; the index after the last row stands for zeros."""
    with_zeros = numpy.concatenate([rows, numpy.zeros((1, rows.shape[1]), numpy.float32)])
    return with_zeros[places].reshape(len(places), -1)


def relu(rows: Vectors) -> Vectors:
    """Return rows with zeros for negative numbers."""
    return numpy.maximum(rows, 0)


def layer_norm(rows: Vectors, scale: Vectors, shift: Vectors, epsilon: float) -> Vectors:
    """Normalise each row to a mean of 0 and a variance of 1, then scale and shift it."""
    rows = rows - rows.mean(axis=-1, keepdims=True)
    variance = numpy.einsum("ij,ij->i", rows, rows) / rows.shape[-1]
    rows *= numpy.reciprocal(numpy.sqrt(variance + epsilon))[:, None]
    rows *= scale
    rows += shift
    return rows


class Table:
    """The embedding table in eight bits, unpacked as far as rows are needed."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams
        self._rows: NDArray[numpy.uint8] = numpy.empty((ROWS, CHUNKS, WIDTH), numpy.uint8)
        self._filled = numpy.zeros(CHUNKS, numpy.int_)
        self._lock = Lock()

    def rows(self, pieces: NDArray[numpy.int_]) -> Vectors:
        """Return the embeddings of pieces."""
        rows, chunks = numpy.divmod(pieces, CHUNKS)
        if (rows >= self._filled[chunks]).any():
            with self._lock:
                for chunk in {*chunks.tolist()}:
                    self._fill(chunk, int(rows[chunks == chunk].max()) + 1)
        return self._rows[rows, chunks].astype(numpy.float32)

    def _fill(self, chunk: int, stop: int) -> None:
        """Unpack the rows of a chunk before `stop`."""
        start = int(self._filled[chunk])
        if start < stop:
            data = self._streams[chunk].read((stop - start) * WIDTH)
            self._rows[start:stop, chunk] = numpy.frombuffer(data, numpy.uint8).reshape(-1, WIDTH)
            self._filled[chunk] = stop


class Stream:
    """A compressed array that is unpacked step by step."""

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
        """Return the next compressed bytes: only a few, because those not used yet are copied."""
        self._place += READ_BYTES
        return self._packed[self._place - READ_BYTES : self._place]


class Archive:
    """The arrays of an npz file, which is mapped into memory."""

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
        """Return a whole array, read-only."""
        data = zlib.decompress(self._packed(self._infos[name]), -zlib.MAX_WBITS)
        head = BytesIO(data)
        npy.read_magic(head)
        shape, by_columns, kind = npy.read_array_header_1_0(head)
        # numpy.load would copy the bytes.
        numbers = numpy.frombuffer(data, kind, offset=head.tell())
        return numbers.reshape(shape, order="F" if by_columns else "C")

    def stream(self, name: str) -> Stream:
        """Return an array to be unpacked step by step, after its header."""
        info = self._infos[name]
        stream = Stream(self._packed(info))
        stream.read(info.file_size - ROWS * WIDTH)  # the header
        return stream

    def _packed(self, info: ZipInfo) -> memoryview:
        """Return the compressed bytes of an array."""
        head = self._data[info.header_offset : info.header_offset + HEADER_BYTES]
        names = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        start = info.header_offset + HEADER_BYTES + names
        return self._data[start : start + info.compress_size]

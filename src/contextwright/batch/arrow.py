"""PyArrow, which has no types of its own, imported in one place."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

from contextwright.errors import MissingExtra

__all__ = ["Array", "ArrowException", "RecordBatch", "fs", "pa", "pq"]

try:
    pa: Any = import_module("pyarrow")
    fs: Any = import_module("pyarrow.fs")
    pq: Any = import_module("pyarrow.parquet")
except ModuleNotFoundError as error:
    raise MissingExtra("cw batch", "batch") from error

ArrowException: type[Exception] = pa.ArrowException
Array: TypeAlias = Any
RecordBatch: TypeAlias = Any

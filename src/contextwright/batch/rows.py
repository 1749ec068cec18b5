"""The function from RecordBatch to RecordBatch that every engine runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, cast

import msgspec

from contextwright.batch.arrow import RecordBatch, pa
from contextwright.batch.operation import Operation, Result
from contextwright.documents.read import decode_row, is_too_deep
from contextwright.errors import (
    BudgetError,
    ContextwrightError,
    ParseError,
    UsageError,
    require,
    shown,
)

__all__ = ["OUTPUT", "transform"]

OUTPUT = pa.schema(
    [
        pa.field("id", pa.string()),
        pa.field("document", pa.large_string()),
        pa.field("changes", pa.list_(pa.string())),
        pa.field("sound", pa.bool_()),
        pa.field("error", pa.large_string()),
    ]
)
"""A row's id, its result as JSON, the codes of all changes, whether `check` found no error, and
for a rejected row why: as JSON, with null in the fields before.
"""


def transform(batch: RecordBatch, operation: Operation) -> RecordBatch:
    """Run an operation on every row of a record batch; return as many rows, in the same order.

    The batch has a column `document`: JSON as text or bytes, or the nested value itself. A column
    `id` names the rows, if it is there.
    """
    require(batch, pa.RecordBatch, "a batch", "pyarrow.RecordBatch")
    require(operation, Operation, "operation", "operation_of() makes one")
    names = batch.schema.names
    if "document" not in names:
        raise UsageError("there is no column 'document'", hint=f"columns: {', '.join(names)}")
    documents = batch.column("document")
    ids = batch.column("id").to_pylist() if "id" in names else [None] * batch.num_rows
    # One value at a time: a batch decoded at once would take many times its size.
    rows = [
        row(None if id is None else str(id), value.as_py(), operation)
        for id, value in zip(ids, documents, strict=True)
    ]
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(OUTPUT)
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, OUTPUT, strict=True)],
        schema=OUTPUT,
    )


def row(id: str | None, value: Any, operation: Operation) -> tuple[Any, ...]:
    """Return the row of one document, in the columns of `OUTPUT`."""
    try:
        result = operation.run(as_data(value), id)
    except (ContextwrightError, RecursionError, MemoryError) as error:
        return id, None, None, None, msgspec.json.encode(reason(error)).decode()
    return id, result.json.decode(), codes(result), result.sound, None


def codes(result: Result) -> list[str]:
    """Return the codes of all changes."""
    return [change.code for change in result.changes]


def as_data(value: Any) -> Any:
    """Return a document as decoded JSON.

    Raises:
        ParseError: there is none, or it is not valid JSON.
    """
    if value is None:
        raise ParseError("there is no document")
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return decode_row(value)
    if is_too_deep(value):
        raise ParseError("nested too deeply")
    return without_nulls(value)


def without_nulls(value: Any) -> Any:
    """Return a nested value without null fields: a column has every field of any row."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: without_nulls(inner) for key, inner in fields.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in cast("list[Any]", value)]
    if (
        value is None
        or isinstance(value, str | int)
        or (isinstance(value, float) and isfinite(value))
    ):
        return value
    raise ParseError(f"{shown(value)} is not a JSON value")


def reason(error: BaseException) -> dict[str, Any]:
    """Return why a row was rejected."""
    if not isinstance(error, ContextwrightError):
        return {"message": type(error).__name__}
    fields: dict[str, Any] = {"message": str(error.args[0])}
    if isinstance(error, ParseError) and error.path:
        fields["path"] = error.path
    if error.hint:
        fields["hint"] = error.hint
    if isinstance(error, BudgetError):
        fields["minimum"] = error.minimum
    return fields

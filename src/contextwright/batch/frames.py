"""Operations on a Daft dataframe that you already have."""

from __future__ import annotations

import pickle
from typing import Any

from contextwright.batch.arrow import Array, pa
from contextwright.batch.cluster import daft
from contextwright.batch.operation import Operation, operation_of, require_workers
from contextwright.batch.rows import OUTPUT, transform
from contextwright.context.recipe import Recipe
from contextwright.errors import UsageError, shown
from contextwright.models import Model

__all__ = ["build", "check", "convert", "count"]

DataType: Any = daft.DataType
RESULT_TYPE = DataType.struct(
    {field.name: DataType.from_arrow_type(field.type) for field in OUTPUT}
)


def convert(
    dataframe: daft.DataFrame,
    column: str,
    *,
    target: str,
    source: str | None = None,
    model: str | Model | None = None,
    id: str | None = None,
    workers: int | None = None,
    **options: Any,
) -> daft.DataFrame:
    """Convert the conversations of a column; return the dataframe with a column `result`.

    The column holds JSON or nested values. `target` is a format, or a kind of file such as
    `openai-batch`, which takes its ids from the column `id`. `options` are the fields of
    `contextwright.Options`. With `workers`, that many processes do it.

    `result` has `id`, `document` (JSON), `changes` (codes), `sound` (False if `check` found an
    error) and `error`: why a row was rejected.
    """
    operation = operation_of("convert", target=target, source=source, model=model, options=options)
    return applied(dataframe, column, operation, id, workers)


def build(
    dataframe: daft.DataFrame,
    column: str,
    *,
    model: str | Model,
    recipe: Recipe | str = "default",
    budget: int | None = None,
    target: str | None = None,
    source: str | None = None,
    id: str | None = None,
    workers: int | None = None,
) -> daft.DataFrame:
    """Build a request for each conversation of a column; see `convert` for what is returned."""
    operation = operation_of(
        "build", model=model, recipes=(recipe,), budget=budget, target=target, source=source
    )
    return applied(dataframe, column, operation, id, workers)


def check(
    dataframe: daft.DataFrame,
    column: str,
    *,
    source: str | None = None,
    model: str | Model | None = None,
    workers: int | None = None,
) -> daft.DataFrame:
    """List what providers would refuse in each request of a column; `result.document` has it."""
    operation = operation_of("check", source=source, model=model)
    return applied(dataframe, column, operation, None, workers)


def count(
    dataframe: daft.DataFrame,
    column: str,
    *,
    model: str | Model,
    source: str | None = None,
    workers: int | None = None,
) -> daft.DataFrame:
    """Count the tokens of each request of a column; `result.document` has them."""
    operation = operation_of("count", source=source, model=model)
    return applied(dataframe, column, operation, None, workers)


def applied(
    dataframe: daft.DataFrame,
    column: str,
    operation: Operation,
    id: str | None,
    workers: int | None,
) -> daft.DataFrame:
    """Return the dataframe with the results of an operation.

    Raises:
        UsageError: it is not a Daft dataframe, there is no such column, the target needs ids, or
            there are no workers.
    """
    if not isinstance(dataframe, daft.DataFrame):  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = "daft.from_pandas, daft.from_arrow and daft.from_pydict make one"
        raise UsageError(f"not a Daft dataframe: {type(dataframe).__name__}", hint=hint)
    require_workers(workers)
    for name in (column,) if id is None else (column, id):
        if name not in dataframe.column_names:
            hint = f"columns: {', '.join(dataframe.column_names)}"
            raise UsageError(f"there is no column {shown(name)}", hint=hint)
    if operation.file.has_ids and id is None:
        raise UsageError(f"{operation.target} needs ids", hint="name their column: id='…'")
    made: Any = daft.cls(Rows, max_concurrency=workers, use_process=True if workers else None)
    rows = made(pickle.dumps(operation))
    documents = dataframe[column]
    results = rows.run(documents) if id is None else rows.run_named(documents, dataframe[id])
    return dataframe.with_column("result", results)


class Rows:
    """Runs an operation on the batches that Daft hands out."""

    def __init__(self, operation: bytes) -> None:
        self.operation: Operation = pickle.loads(operation)

    @daft.method.batch(return_dtype=RESULT_TYPE)
    def run(self, documents: Any) -> Array:
        """Run the operation on rows without ids."""
        records = pa.record_batch({"document": documents.to_arrow()})
        return transform(records, self.operation).to_struct_array()

    @daft.method.batch(return_dtype=RESULT_TYPE)
    def run_named(self, documents: Any, ids: Any) -> Array:
        """Run the operation on rows with ids."""
        records = pa.record_batch({"document": documents.to_arrow(), "id": ids.to_arrow()})
        return transform(records, self.operation).to_struct_array()

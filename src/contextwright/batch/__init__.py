"""Whole data sets: convert, build, check, count and simulate on all cores or on a cluster.

`run` does a job from files to files, as `cw batch` does. `convert`, `build`, `check` and `count`
add a column to a Daft dataframe. `transform` is the function between record batches under both, for
any other engine. All need `pip install 'contextwright[batch]'`.
"""

from typing import TYPE_CHECKING

from contextwright.lazy import lazily

if TYPE_CHECKING:
    from contextwright.batch.frames import build as build
    from contextwright.batch.frames import check as check
    from contextwright.batch.frames import convert as convert
    from contextwright.batch.frames import count as count
    from contextwright.batch.inputs import Columns as Columns
    from contextwright.batch.job import Job as Job
    from contextwright.batch.manifest import Manifest as Manifest
    from contextwright.batch.manifest import run as run
    from contextwright.batch.operation import Operation as Operation
    from contextwright.batch.operation import operation_of as operation_of
    from contextwright.batch.places import Place as Place
    from contextwright.batch.rows import transform as transform
    from contextwright.batch.targets import TARGETS as TARGETS
else:
    __all__, __getattr__, __dir__ = lazily(
        __name__,
        {
            "contextwright.batch.frames": "build check convert count",
            "contextwright.batch.inputs": "Columns",
            "contextwright.batch.job": "Job",
            "contextwright.batch.operation": "Operation operation_of",
            "contextwright.batch.places": "Place",
            "contextwright.batch.rows": "transform",
            "contextwright.batch.manifest": "Manifest run",
            "contextwright.batch.targets": "TARGETS",
        },
    )

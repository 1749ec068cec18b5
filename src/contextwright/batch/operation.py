"""The operation on every conversation of a data set."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from contextwright import formats
from contextwright.batch.targets import Target, find_target
from contextwright.context.recipe import Recipe
from contextwright.context.recipe_files import as_recipe
from contextwright.context.simulation.simulate import simulate
from contextwright.errors import ContextwrightError, UsageError, require, shown
from contextwright.formats import api
from contextwright.formats.base import as_options
from contextwright.importers.detection import format_of
from contextwright.messages.changes import Change
from contextwright.models import Model, as_model
from contextwright.store.frames import question_time
from contextwright.store.store import Store
from contextwright.text.json import encode_json

__all__ = ["KINDS", "Kind", "Operation", "Result", "operation_of", "require_workers"]

Kind: TypeAlias = Literal["convert", "build", "check", "count", "simulate", "recall"]
KINDS: tuple[Kind, ...] = ("convert", "build", "check", "count", "simulate", "recall")
USED: dict[Kind, tuple[str, ...]] = {
    "convert": ("target", "strict", "options"),
    "build": ("target", "recipes", "budget", "strict"),
    "check": (),
    "count": (),
    "simulate": ("target", "recipes", "budget", "strict"),
    "recall": ("budget", "strict"),
}
"""The fields that an operation depends on, besides source and model."""
MAX_WORKERS = 10_000
RECALL_TOKENS = 2_000
"""The budget of `recall` unless there is another."""


class Result(Struct, frozen=True):
    """The result of an operation for one conversation."""

    json: bytes
    changes: tuple[Change, ...] = ()
    sound: bool = True
    """Whether `check` or `simulate` found no error."""


class Operation(Struct, frozen=True, kw_only=True):
    """An operation, with everything it depends on besides the conversation.

    It is a plain value, because it travels to other processes and machines.
    """

    kind: Kind
    source: str | None = None
    """The format of the conversations; None: each is detected."""
    target: str | None = None
    """A format, or one of `TARGETS`. None: the model's own format."""
    model: Model | None = None
    recipes: tuple[Recipe, ...] = ()
    budget: int | None = None
    strict: bool = False
    options: dict[str, Any] = {}
    """Fields of `contextwright.Options`, for `convert`."""

    @property
    def file(self) -> Target:
        """The kind of file that the results are for."""
        makes_payloads = self.kind in ("convert", "build")
        return find_target(self.target) if makes_payloads and self.target else Target(formats=())

    def run(self, data: Any, id: str | None) -> Result:
        """Do it with one decoded document; `id` names the row.

        Raises:
            ContextwrightError: the document cannot be read, or the request cannot be made.
        """
        match self.kind:
            case "convert":
                return self.convert(data, id)
            case "build":
                return self.build(data, id)
            case "check":
                return self.check(data, id)
            case "count":
                return self.count(data, id)
            case "simulate":
                return self.simulate(data, id)
            case "recall":
                return self.recall(data, id)

    def convert(self, data: Any, id: str | None) -> Result:
        """Write the conversation in the target's format."""
        format = self.file.format_for(self.model)
        source = self.source or format_of(data)
        rendered = api.convert(
            data, source, format, model=self.model, strict=self.strict, **self.options
        )
        if self.file.wrap is None:
            return Result(rendered.json, rendered.changes)
        row, lost = self.file.row(id or "", rendered.payload, format)
        return Result(encode_json(row), (*rendered.changes, *lost))

    def build(self, data: Any, id: str | None) -> Result:
        """Build the request for the conversation."""
        model = cast("Model", self.model)
        format = self.file.format_for(model) if self.target else model.format
        conversation = api.parse(data, self.source or format_of(data), strict=self.strict)
        context = self.recipes[0].build(
            conversation,
            model=model,
            format=format,
            now=question_time(reversed(conversation.messages)),
            budget=self.budget,
        )
        row, lost = self.file.row(id or "", context.payload, format)
        return Result(encode_json(row), (*conversation.changes, *context.changes, *lost))

    def check(self, data: Any, id: str | None) -> Result:
        """List what the provider would refuse in the document."""
        format = self.source or (self.model.format if self.model else format_of(data))
        problems = api.check(data, format, model=self.model)
        errors = sum(problem.level == "error" for problem in problems)
        fields = {"errors": errors, "warnings": len(problems) - errors, "problems": problems}
        return Result(encode_json(named(id, fields)), sound=not errors)

    def count(self, data: Any, id: str | None) -> Result:
        """Count the tokens of the document."""
        counted = api.count(data, model=cast("Model", self.model), format=self.source)
        return Result(encode_json(named(id, msgspec.to_builtins(counted))))

    def simulate(self, data: Any, id: str | None) -> Result:
        """Replay the conversation with every recipe."""
        conversation = api.parse(data, self.source or format_of(data), strict=self.strict)
        rows = simulate(
            conversation,
            self.recipes,
            model=cast("Model", self.model),
            budget=self.budget,
            format=self.target,
        )
        summaries = [row.summary() for row in rows]
        sound = all(row.sound for row in rows)
        return Result(encode_json(named(id, {"recipes": summaries})), conversation.changes, sound)

    def recall(self, data: Any, id: str | None) -> Result:
        """Find what the newest question needs of the messages before it, by words alone.

        Raises:
            ContextwrightError: nobody asks anything.
        """
        conversation = api.parse(data, self.source or format_of(data), strict=self.strict)
        messages = conversation.messages
        asked = [index for index, message in enumerate(messages) if message.role == "user"]
        if not asked or not messages[asked[-1]].text.strip():
            raise ContextwrightError("there is no question to recall for")
        earlier, question = messages[: asked[-1]], messages[asked[-1]]
        with (
            TemporaryDirectory() as folder,
            Store(f"{folder}/row.db", sync="fast", embedder=None) as store,
        ):
            chat = store.conversation("row")
            chat.add(earlier)
            found = chat.recall(
                question.text,
                budget=self.budget or RECALL_TOKENS,
                now=question_time([question, *reversed(earlier)]),
                model=self.model,
            )
        hits = [{"index": hit.seq - 1, "score": round(hit.score, 4)} for hit in found]
        fields = {"confidence": round(found.confidence, 4), "tokens": found.tokens, "hits": hits}
        return Result(encode_json(named(id, {**fields, "text": found.text})), conversation.changes)


def named(id: str | None, fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields with the row's id, if it has one."""
    return fields if id is None else {"id": id, **fields}


def operation_of(
    kind: Kind,
    *,
    model: str | Model | None = None,
    recipes: tuple[Recipe | str, ...] = (),
    **fields: Any,
) -> Operation:
    """Return an operation; names of models and recipes are looked up here.

    Raises:
        UsageError: a name is unknown, the operation lacks a target, a model or a recipe, the
            budget is not positive, or a field would have no effect.
    """
    require(recipes, tuple | list, "recipes", "names of recipes, or Recipe(…)")
    operation = Operation(
        kind=kind,
        model=None if model is None else as_model(model),
        recipes=tuple(map(as_recipe, recipes)),
        **fields,
    )
    if kind not in KINDS:
        raise UsageError(f"unknown operation {shown(kind)}", hint=f"known: {', '.join(KINDS)}")
    if operation.source is not None:
        formats.find(operation.source)
    if operation.target is not None:
        (formats.find if kind == "simulate" else find_target)(operation.target)
    require(operation.options, dict, "options", "fields of Options")
    as_options(operation.options)
    require(operation.budget, int | None, "budget", "a number of tokens")
    if operation.budget is not None and operation.budget < 1:
        raise UsageError(f"budget cannot be {operation.budget:,} tokens", hint="use at least 1")
    refuse_unused(operation)
    if kind == "convert" and operation.target is None:
        raise UsageError("convert needs a target", hint="name a format or a kind of file")
    if kind in ("build", "count", "simulate") and operation.model is None:
        raise UsageError(f"{kind} needs a model", hint="see cw models")
    if kind in ("build", "simulate") and not operation.recipes:
        raise UsageError(f"{kind} needs a recipe", hint="for example: default")
    return operation


def require_workers(workers: int | None) -> None:
    """Raise for a number of processes that no engine can start.

    Raises:
        UsageError: it is not a number, or out of range.
    """
    require(workers, int | None, "workers", "a number of processes")
    if workers is not None and not 1 <= workers <= MAX_WORKERS:
        raise UsageError(f"workers cannot be {workers}", hint=f"use 1 to {MAX_WORKERS:,}")


def refuse_unused(operation: Operation) -> None:
    """Refuse fields that would have no effect.

    Raises:
        UsageError: one of them is set.
    """
    for name, words in {
        "target": "a target (--to)",
        "recipes": "a recipe",
        "budget": "a budget",
        "strict": "strictness (--strict)",
        "options": f"options of convert: {', '.join(operation.options)}",
    }.items():
        if getattr(operation, name) and name not in USED[operation.kind]:
            raise UsageError(f"{operation.kind} does not take {words}", hint="leave it out")
    if operation.kind == "build" and len(operation.recipes) > 1:
        raise UsageError("build takes one recipe", hint="simulate compares several")

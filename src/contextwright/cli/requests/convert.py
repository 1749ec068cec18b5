"""`cw convert` and `cw fix`: conversations and requests in another shape, or repaired."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from contextwright import formats, importers
from contextwright.cli import completion
from contextwright.cli.arguments import named_model
from contextwright.cli.inputs import Input, about, read_input, read_payload
from contextwright.cli.options import (
    AsJson,
    File,
    InputFormat,
    ListChanges,
    ModelName,
    ModelsFile,
    Option,
    OptionGroup,
    Output,
    PayloadFormat,
    refuse,
)
from contextwright.cli.output import (
    count_changes,
    error_fields,
    indented,
    left_out,
    list_changes,
    note,
    numbered,
    report_changes,
    written,
)
from contextwright.documents.read import read_lines
from contextwright.errors import ContextwrightError, ParseError, Problem
from contextwright.formats import api
from contextwright.formats.base import Rendered
from contextwright.importers.detection import format_of
from contextwright.models import Model
from contextwright.text.json import encode_json

__all__ = ["convert", "fix"]


# --- convert -------------------------------------------------------------------------------------


class RenderOptions(OptionGroup, frozen=True, kw_only=True):
    """How the history is written: the fields of `Options`."""

    repair: Annotated[
        bool, Option("--repair/--no-repair", help="Make the history legal for the target.")
    ] = True
    speaker_prefix: Annotated[
        bool | None,
        Option(
            "--speaker-prefix/--no-speaker-prefix",
            help="Write names before texts. Default: if several people speak.",
        ),
    ] = None
    thinking: Annotated[
        Literal["keep", "drop", "text"],
        Option("--thinking", help="Keep thinking where allowed, drop it, or make it text."),
    ] = "keep"
    include_results: Annotated[
        bool, Option("--include-results", help="For aya: keep tool results.")
    ] = False
    turn_rule: Annotated[
        Literal["speaker", "exchange", "user"] | None,
        Option("--turn-rule", help="For aya: number the turns again by this rule."),
    ] = None
    legacy_meta: Annotated[
        bool, Option("--legacy-meta", help="For gryag: write the old [meta] parts.")
    ] = False

    def require_target(self, target: str | None) -> None:
        """Refuse options of one format in a conversion to another.

        Raises:
            UsageError: one of them is given.
        """
        if target != "aya":
            why = "has no effect: it belongs to --to aya"
            refuse({"--include-results": self.include_results, "--turn-rule": self.turn_rule}, why)
        if target != "gryag":
            refuse({"--legacy-meta": self.legacy_meta}, "has no effect: it belongs to --to gryag")


def convert(
    file: File,
    target: Annotated[
        str,
        Option(
            "--to",
            metavar="FORMAT",
            help="Format of the output (see cw formats).",
            complete=completion.formats,
        ),
    ],
    source: InputFormat = None,
    model: ModelName = None,
    models: ModelsFile = None,
    output: Output = None,
    jsonl: Annotated[
        bool,
        Option("--jsonl", help="Read one conversation per line, print one per line."),
    ] = False,
    changes: ListChanges = False,
    strict: Annotated[bool, Option("--strict", help="Fail if the input needs repair.")] = False,
    *,
    rendering: RenderOptions,
) -> int:
    """Convert a conversation to another format.

    The result is printed as JSON, changes go to standard error. With --jsonl, a line that fails
    becomes {"error": …} in its place, and the exit code is 1.

    \b
    cw convert chat.json --to anthropic --model claude-sonnet-5-5
    cw convert ~/.codex/sessions/2026/11/15/rollout-1.jsonl --to anthropic
    cw convert - --from aya --to gemini --changes < thread.json
    zcat logs.gz | cw convert - --from anthropic --to openai-chat --jsonl > out.jsonl
    """
    conversion = Conversion(source, target, named_model(model, models), strict, rendering)
    formats.find(target)
    if source is not None:
        (formats if jsonl else importers).find(source)
    rendering.require_target(target)
    if jsonl:
        return convert_lines(conversion, file, output, listed=changes)
    rendered = conversion.of_file(read_input(file, source))
    with written(output) as write:
        write(indented(rendered.json))
    report_changes(rendered.changes, listed=changes)
    return 0


class Conversion(Struct, frozen=True):
    """The source and target of a conversion, and its options."""

    source: str | None
    """The source format; None: detected."""
    target: str
    model: Model | None
    strict: bool
    rendering: RenderOptions

    def run(self, data: Any) -> Rendered:
        """Convert one decoded conversation."""
        source = self.source or format_of(data)
        options = msgspec.structs.asdict(self.rendering)
        return api.convert(
            data, source, self.target, model=self.model, strict=self.strict, **options
        )

    def of_file(self, found: Input) -> Rendered:
        """Convert the one conversation of a file."""
        if found.conversations is None:
            with about(found.file):
                return msgspec.structs.replace(self, source=found.format).run(found.document)
        left_out(found.skipped)
        conversation = found.one()
        if self.strict and conversation.changes:
            with about(found.file):
                raise ContextwrightError(str(conversation.changes[0]))
        options = msgspec.structs.asdict(self.rendering)
        rendered = api.render(conversation, self.target, model=self.model, **options)
        changes = (*conversation.changes, *rendered.changes)
        return msgspec.structs.replace(rendered, changes=changes)


def convert_lines(conversion: Conversion, file: str, output: str | None, *, listed: bool) -> int:
    """Convert each line of a file as it arrives; an error takes the place of its payload."""
    failed = 0
    codes: Counter[str] = Counter()
    with about(file), written(output) as write:
        for number, data in read_lines(file):
            try:
                if isinstance(data, ParseError):
                    raise data
                rendered = conversion.run(data)
                line = rendered.json
            except (ContextwrightError, RecursionError, MemoryError) as error:
                failed += 1
                line = msgspec.json.encode({"error": error_fields(error, number)})
            else:
                codes.update(change.code for change in rendered.changes)
                if listed:
                    list_changes(rendered.changes, prefix=f"line {number}: ")
            write(line + b"\n")
    if not listed:
        count_changes(codes)
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed (see the error lines in the output)")
    return 1 if failed else 0


# --- fix -----------------------------------------------------------------------------------------


def fix(
    file: File,
    format: PayloadFormat = None,
    model: ModelName = None,
    models: ModelsFile = None,
    output: Output = None,
    as_json: AsJson = False,
) -> int:
    """Repair a request and list what was changed.

    The repaired request is printed as JSON, every change goes to standard error. A request that
    needs no repair is printed as it is. Exits with 1 if it needed repair, or if errors remain.

    \b
    cw fix request.json > repaired.json
    cw fix request.json --model claude-sonnet-5-5 -o request.json
    cw fix - --format anthropic --json < request.json
    """
    facts = named_model(model, models)
    if format is not None:
        formats.find(format)
    data, found = read_payload(file, format)
    with about(file):
        fixed = api.convert(data, found, found, model=facts)
        errors = [
            one for one in api.check(fixed.payload, found, model=facts) if one.level == "error"
        ]
    with written(output) as write:
        write(indented(encode_json(fix_fields(fixed, errors)) if as_json else fixed.json))
    if not as_json:
        list_changes(fixed.changes)
        for problem in errors:
            note(str(problem))
        left = f", {numbered(len(errors), 'error')} left" if errors else ""
        note(f"cw: {numbered(len(fixed.changes), 'change')}{left}")
    return 1 if fixed.changes or errors else 0


def fix_fields(fixed: Rendered, errors: list[Problem]) -> dict[str, Any]:
    """Return a repaired request for programs."""
    return {
        "payload": fixed.payload,
        "changes": [msgspec.to_builtins(change) for change in fixed.changes],
        "errors": [msgspec.to_builtins(problem) for problem in errors],
    }

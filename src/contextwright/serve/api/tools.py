"""Tools that need no store: convert, check and count."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field, structs

from contextwright.errors import ParseError, Problem, UsageError
from contextwright.formats import NAMES, FormatName
from contextwright.formats.api import check, convert, count
from contextwright.formats.base import Options
from contextwright.importers.detection import detect_document
from contextwright.messages.changes import Change
from contextwright.models import find as find_model
from contextwright.serve.http.fields import ModelName
from contextwright.tokens.count import Count

__all__ = ["check_payload", "convert_data", "count_tokens"]


class ConvertBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A conversation or request, and the format it becomes."""

    data: Any
    source: FormatName | None = field(name="from", default=None)
    to: FormatName
    model: ModelName | None = None
    strict: bool = False
    options: Options = Options()


class ConvertAnswer(Struct, frozen=True):
    """The same in another format, and what had to change."""

    payload: Any
    changes: list[Change]


class CheckBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to check."""

    payload: Any
    format: FormatName | None = None
    model: ModelName | None = None


class CheckAnswer(Struct, frozen=True):
    """The problems of a request: reasons why the provider refuses it, or might."""

    format: str
    problems: list[Problem]


class CountBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text or a request to count."""

    text: str | None = None
    payload: Annotated[
        dict[str, Any] | list[Any] | None, Meta(description="A request, or messages.")
    ] = None
    model: ModelName
    format: FormatName | None = None


class CountAnswer(Struct, frozen=True):
    """Tokens, and how far the number can be trusted."""

    count: Count
    least: int
    most: int


def convert_data(body: ConvertBody) -> ConvertAnswer:
    """Convert a conversation or request to another format.

    Without `from`, the content shows its format. With `strict`, data that needs repair is refused.
    """
    source = body.source or format_of(body.data)
    options = structs.asdict(body.options)
    converted = convert(body.data, source, body.to, model=body.model, strict=body.strict, **options)
    return ConvertAnswer(converted.payload, list(converted.changes))


def check_payload(body: CheckBody) -> CheckAnswer:
    """Check a request against its provider's rules.

    Without `format`, it is that of the model; without a model, the content shows it.
    """
    format = body.format or (find_model(body.model).format if body.model else None)
    found = format or format_of(body.payload)
    return CheckAnswer(found, check(body.payload, found, model=body.model))


def count_tokens(body: CountBody) -> CountAnswer:
    """Count the tokens of a text or a request."""
    if (body.text is None) == (body.payload is None):
        raise UsageError("pass either `text` or `payload`")
    value = body.text if body.payload is None else body.payload
    assert value is not None
    counted = count(value, model=body.model, format=body.format)
    return CountAnswer(counted, counted.least, counted.most)


def format_of(data: Any) -> str:
    """Return the format that data shows.

    Raises:
        ParseError: it shows none, or it is an export of another tool.
    """
    found = detect_document(data)
    if found in NAMES:
        return found
    raise ParseError("the format cannot be detected", hint=f"name it: {', '.join(NAMES)}")

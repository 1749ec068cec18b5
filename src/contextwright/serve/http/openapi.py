"""The OpenAPI document, made from the operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from contextwright.serve.http.errors import MEANINGS, ErrorAnswer
from contextwright.serve.http.operation import JSON, Operation
from contextwright.version import __version__

__all__ = ["describe"]

REF = "#/components/schemas/{name}"


def describe(operations: Iterable[Operation], prefix: str) -> dict[str, Any]:
    """Return the document of operations below a path."""
    listed = tuple(operations)
    schemas = Schemas(listed)
    paths: dict[str, Any] = {}
    for one in listed:
        paths.setdefault(one.path, {})[one.method.lower()] = schemas.operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "contextwright", "version": __version__},
        "servers": [{"url": prefix}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.shared,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


class Schemas:
    """The schemas of all types that operations name."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        types: dict[Any, None] = {ErrorAnswer: None}
        queries: dict[Any, None] = {}
        for one in operations:
            answer = None if one.streams else one.answer
            types |= {type: None for type in (one.body, answer) if type is not None}
            if one.query is not None:
                queries[one.query] = None
        found, self.shared = msgspec.json.schema_components(types, ref_template=REF)
        self.of_type = dict(zip(types, found, strict=True))
        # Parameters are written out where they are used.
        _, fields = msgspec.json.schema_components(queries, ref_template=REF)
        self.of_query = {query: fields[query.__name__] for query in queries}

    def operation(self, one: Operation) -> dict[str, Any]:
        """Return an operation as the document has it."""
        entry: dict[str, Any] = {
            "operationId": one.name,
            "tags": [one.tag],
            "summary": one.summary,
            "parameters": self.parameters(one),
            "responses": {str(one.status): self.answer(one), **self.errors(one)},
        }
        if one.description:
            entry["description"] = one.description
        content: dict[str, Any] = {"application/octet-stream": {}} if one.upload else {}
        if one.body is not None:
            content = {JSON: {"schema": self.of_type[one.body]}}
        if content:
            entry["requestBody"] = {"required": True, "content": content}
        return entry

    def parameters(self, one: Operation) -> list[dict[str, Any]]:
        """Return the parameters of an operation."""
        if one.query is None:
            return []
        schema = self.of_query[one.query]
        return [
            parameter(name, field, "path" if name in one.path_fields else "query", schema)
            for name, field in schema["properties"].items()
        ]

    def answer(self, one: Operation) -> dict[str, Any]:
        """Return the answer of an operation that succeeds."""
        if one.answer is None:
            return {"description": "Done."}
        schema: dict[str, Any] = {"type": "string"} if one.streams else self.of_type[one.answer]
        return {"description": "The answer.", "content": {one.media: {"schema": schema}}}

    def errors(self, one: Operation) -> dict[str, Any]:
        """Return the answers of an operation that fails."""
        content = {JSON: {"schema": self.of_type[ErrorAnswer]}}
        return {
            str(status): {"description": MEANINGS[status], "content": content}
            for status in one.errors
        }


def parameter(
    name: str, field: dict[str, Any], place: str, schema: dict[str, Any]
) -> dict[str, Any]:
    """Return a field of a query as a parameter; an optional one is never null."""
    options = cast("list[dict[str, Any]]", field.get("anyOf", [field]))
    known = [one for one in options if one.get("type") != "null"]
    shape = dict(known[0]) if len(known) == 1 else {"anyOf": known}
    if field.get("default") is not None:
        shape["default"] = field["default"]
    words = shape.pop("description", "")
    return {
        "name": name,
        "in": place,
        "required": name in schema.get("required", ()),
        "description": words,
        "schema": shape,
    }

"""The reference of the HTTP API in docs/http.md, made from its OpenAPI document.

`python tests/http_page.py` writes everything behind the line `## Routes` anew.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from contextwright.formats import NAMES
from contextwright.serve.api.routes import OPERATIONS
from contextwright.serve.http.api import PREFIX
from contextwright.serve.http.openapi import describe
from contextwright.serve.http.operation import JSON, Operation
from paths import DOCS

PAGE = DOCS / "http.md"
BEGIN = "## Routes\n"


def page() -> str:
    """The page as it should be: its own words, and the reference."""
    words = PAGE.read_text("utf-8").partition(BEGIN)[0]
    return f"{words}{BEGIN}\n{reference()}"


def reference() -> str:
    """All routes and all types."""
    document = describe(OPERATIONS, PREFIX)
    parts = [f"Paths are below `{PREFIX}`. Fields in *italics* may be left out.\n"]
    for tag, operations in groupby(OPERATIONS, lambda one: one.tag):
        parts.append(f"### {tag.capitalize()}\n")
        parts += [route(one, document) for one in operations]
    parts.append("## Types\n")
    parts.append("| type | fields |\n|---|---|")
    parts += [row(name, schema) for name, schema in document["components"]["schemas"].items()]
    return "\n".join(parts) + "\n"


def route(one: Operation, document: dict[str, Any]) -> str:
    """A route with its parameters."""
    entry = document["paths"][one.path][one.method.lower()]
    text = f"**`{one.method} {one.path}`** {one.summary}."
    lines = [f"{text} {one.description}".rstrip()]
    lines += [parameter(each) for each in entry["parameters"] if each["in"] == "query"]
    if one.body is not None:
        lines.append(f"- body: {kind(entry['requestBody']['content'][JSON]['schema'])}")
    elif one.upload:
        lines.append("- body: the file itself")
    if one.answer is not None:
        schema = entry["responses"][str(one.status)]["content"][one.media]["schema"]
        found = f"`{one.media}`" if one.streams else kind(schema)
        lines.append(f"- answers {one.status} with {found}")
    else:
        lines.append(f"- answers {one.status}")
    return "\n".join(lines) + "\n"


def parameter(one: dict[str, Any]) -> str:
    """A parameter on a line."""
    name = f"`{one['name']}`" if one["required"] else f"*`{one['name']}`*"
    default = one["schema"].get("default", "")
    usual = f", by default `{shown(default)}`" if default != "" else ""
    words = f": {one['description']}" if one["description"] else ""
    return f"- {name} ({kind(one['schema'])}{usual}){words}"


def shown(value: Any) -> str:
    """A value as JSON has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def row(name: str, schema: dict[str, Any]) -> str:
    """A type with its fields, as a row of a table."""
    required = schema.get("required", ())
    fields = [
        f"{f'`{field}`' if field in required else f'*`{field}`*'} {kind(type)}"
        for field, type in schema.get("properties", {}).items()
    ]
    if "items" in schema or "prefixItems" in schema:
        fields = ["a list: " + ", ".join(map(kind, schema["prefixItems"]))]
    return f'| <a id="{name.lower()}"></a>`{name}` | {", ".join(fields)} |'


def kind(schema: dict[str, Any]) -> str:
    """A schema in few words; a type of its own is a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"])
    if schema.get("enum") == sorted(NAMES):
        return "name of a format"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return str(schema.get("type", "any JSON"))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

"""Tools, calls and results as Gemini 2.5 reads them: Python declarations.

    def get_weather(
        city: str,
    ) -> dict:
      \"\"\"Get the current weather for a city.

      Args:
        city:
      \"\"\"

An object among the parameters is a dataclass above the function. A call is
`print(default_api.get_weather(city = 'Kyiv'))`, a result `{"get_weather_response": {…}}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields, items, text_of
from contextwright.tokens.spelling.schemas import Definitions

__all__ = ["arguments", "call", "response", "result", "tools"]

NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict",
    "null": "None",
}


def tools(declared: Iterable[Fields]) -> list[str]:
    """Return the declarations of tools, one text for each."""
    return [declaration(tool) for tool in declared]


def call(name: str) -> list[str]:
    """Return the text before the arguments of a call."""
    return [f"print(default_api.{name}"]


def arguments(given: Any) -> list[str]:
    """Return the arguments of a call."""
    return [f"({', '.join(f'{name} = {value!r}' for name, value in fields(given).items())}))"]


def result(name: str) -> list[str]:
    """Return the text before the value of a result."""
    return [f'{{"{name}_response":']


def response(given: Any) -> list[str]:
    """Return the value of a result."""
    return [f" {json.dumps(given, ensure_ascii=False)}}}"]


def declaration(tool: Fields) -> str:
    """Return one tool as a function, below the dataclasses it needs."""
    schema = fields(tool.get("parameters"))
    name = text_of(tool.get("name"))
    types = Types(schema)
    listed = fields(schema.get("properties"))
    required = items(schema.get("required"))
    lines = [
        f"    {key}: {types.of(value, f'{name}_{key}', 1)}{default(key in required)},\n"
        for key, value in listed.items()
    ]
    about = docstring(text_of(tool.get("description")), "Args", listed)
    return f"{''.join(types.classes)}def {name}(\n{''.join(lines)}) -> dict:\n{about}"


def default(required: bool) -> str:
    """Return what follows the type of an optional parameter."""
    return "" if required else " | None = None"


def docstring(description: str, heading: str, listed: Fields) -> str:
    """Return a docstring that describes every parameter or attribute."""
    lines = [
        f"    {key}: {text_of(fields(value).get('description'))}\n" for key, value in listed.items()
    ]
    return f'  """{description}\n\n  {heading}:\n{"".join(lines)}  """\n'


class Types:
    """Schemas as Python types; collects the dataclasses that objects become."""

    def __init__(self, schema: Fields) -> None:
        self.definitions = Definitions(schema)
        self.classes: list[str] = []

    def of(self, given: Any, path: str, depth: int) -> str:
        """Return the type of a schema; `path` names the dataclass if it becomes one."""
        if not self.definitions.enter(depth):
            return "Any"
        schema = self.definitions.resolve(given)
        if choices := items(schema.get("enum")):
            return f"Literal[{', '.join(map(repr, choices))}]"
        for union in ("anyOf", "oneOf", "any_of"):
            if variants := items(schema.get(union)):
                return " | ".join(self.of(variant, path, depth + 1) for variant in variants)
        kind = text_of(schema.get("type")).lower()
        if kind == "array":
            inner = self.of(schema["items"], path, depth + 1) if "items" in schema else "Any"
            return f"list[{inner}]"
        if kind == "object" and fields(schema.get("properties")):
            return self.dataclass(schema, path, depth)
        if kind == "object" and fields(schema.get("additionalProperties")):
            return f"dict[str, {self.of(schema['additionalProperties'], path, depth + 1)}]"
        return NAMES.get(kind, "Any")

    def dataclass(self, schema: Fields, path: str, depth: int) -> str:
        """Declare an object as a dataclass and return its name."""
        name = "".join(word[:1].upper() + word[1:] for word in path.split("_"))
        listed = fields(schema.get("properties"))
        required = items(schema.get("required"))
        lines = [
            f"  {key}: {self.of(value, f'{path}_{key}', depth + 1)}{default(key in required)}\n"
            for key, value in listed.items()
        ]
        about = docstring(text_of(schema.get("description")), "Attributes", listed)
        self.classes.append(
            f"@dataclasses.dataclass(kw_only=True)\nclass {name}:\n{about}{''.join(lines)}\n"
        )
        return name

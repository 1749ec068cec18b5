"""Python functions as tools: schemas from signature and docstring, validated arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeAlias, cast, get_type_hints

import msgspec
from msgspec import Struct

from contextwright.ask.docstrings import read_docstring
from contextwright.errors import UsageError, require, shown, words_of
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.text.json import convert_prepared, decoder

__all__ = ["AnyTool", "FunctionTool", "Toolbox", "tool_from"]

AnyTool: TypeAlias = "Callable[..., Any] | Tool | Opaque"
"""A function to run, or a tool that the caller or the provider runs."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}").fullmatch
"""Tool names that every provider accepts."""


class FunctionTool(Struct, frozen=True):
    """A tool that a Python function runs."""

    tool: Tool
    function: Callable[..., Any]
    arguments: type[Struct]

    def read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Convert the arguments of a call for the function; defaults are left out.

        Numbers and booleans written as text are converted.

        Raises:
            msgspec.ValidationError: the arguments do not match the signature.
        """
        values = convert_prepared(arguments, self.arguments, strict=False)
        fields = msgspec.structs.fields(self.arguments)
        return {
            field.encode_name: getattr(values, field.name)
            for field in fields
            if field.encode_name in arguments
        }


class Toolbox(Struct, frozen=True):
    """The tools of a question: all that the model sees, and those that run here."""

    tools: tuple[Tool | Opaque, ...] = ()
    functions: dict[str, FunctionTool] = {}

    @classmethod
    def of(cls, tools: Iterable[AnyTool]) -> Toolbox:
        """Return the toolbox of functions and tools.

        Raises:
            UsageError: a function cannot be a tool, or two tools have the same name.
        """
        require(tools, Iterable, "tools", "a list of functions and tools")
        listed: list[Tool | Opaque] = []
        functions: dict[str, FunctionTool] = {}
        names: set[str] = set()
        for given in tools:
            if isinstance(given, Tool | Opaque):
                one = given
            else:
                made = tool_from(given)
                one, functions[made.tool.name] = made.tool, made
            if isinstance(one, Tool):
                if one.name in names:
                    raise UsageError(f"two tools are called {shown(one.name)}")
                names.add(one.name)
            listed.append(one)
        return cls(tuple(listed), functions)

    @property
    def elsewhere(self) -> frozenset[str]:
        """The names of tools that the caller runs."""
        names = {tool.name for tool in self.tools if isinstance(tool, Tool)}
        return frozenset(names - set(self.functions))


def tool_from(function: Callable[..., Any]) -> FunctionTool:
    """Make a tool from a function: its name, its docstring, and a schema of its parameters.

    Types are those that msgspec knows: plain ones, `Literal`, `Enum`, dataclasses, TypedDicts,
    Structs, lists and dicts of them; `Annotated[T, "…"]` describes a parameter, as the docstring
    does (Google, Sphinx or NumPy style).

    Raises:
        UsageError: the function has no usable name, or a parameter that no schema can describe.
    """
    if not callable(function):
        hint = "a function, or Tool(name, description, parameters)"
        raise UsageError(f"a tool cannot be {shown(function)}", hint=hint)
    name = getattr(function, "__name__", "")
    if not NAME(name):
        hint = "a tool's name has at most 64 letters, digits and _: use def"
        raise UsageError(f"{shown(name or function)} cannot be a tool's name", hint=hint)
    described, words = read_docstring(inspect.getdoc(function) or "")
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        fields = [
            field_of(name, one, hints.get(one.name, Any), words) for one in parameters.values()
        ]
        arguments = arguments_of(name, [*parameters], fields)
        decoder(arguments)
        schema = schema_of(arguments)
    except (TypeError, NameError, ValueError) as error:
        reason = " ".join(words_of(error).split())
        hint = "give its parameters types that JSON has: str, int, list, dict, dataclasses"
        raise UsageError(f"the function {name} cannot be a tool: {reason}", hint=hint) from None
    return FunctionTool(Tool(name, described or None, schema), function, arguments)


def arguments_of(function: str, names: Sequence[str], fields: Sequence[Any]) -> type[Struct]:
    """Return the arguments of a function as a type.

    Its fields have names of our own, because a parameter may be called `__init__`.
    """
    own = [f"argument_{index}" for index in range(len(names))]
    return msgspec.defstruct(
        function,
        [(new, *rest) for new, (_, *rest) in zip(own, fields, strict=True)],
        kw_only=True,
        forbid_unknown_fields=True,
        rename=dict(zip(own, names, strict=True)),
    )


def field_of(function: str, parameter: inspect.Parameter, hint: Any, words: dict[str, str]) -> Any:
    """Return a parameter as a field: name, type with description, default."""
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        hint = "give every parameter a name that the model can use"
        raise UsageError(f"{function}: {parameter} cannot be filled in by name", hint=hint)
    text = next(
        (note for note in getattr(hint, "__metadata__", ()) if isinstance(note, str)),
        words.get(parameter.name),
    )
    if text:
        hint = Annotated[hint, msgspec.Meta(description=text)]
    if parameter.default is parameter.empty:
        return parameter.name, hint
    return parameter.name, hint, default_of(parameter.default)


def default_of(value: Any) -> Any:
    """Return a default for the schema if it is JSON; only the function knows others."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return msgspec.field(default_factory=lambda: value)


def schema_of(arguments: type[Struct]) -> dict[str, Any]:
    """Return the schema of arguments: one plain object, with its definitions."""
    (root,), found = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    definitions = cast("dict[str, dict[str, Any]]", found)
    own = definitions.pop(root["$ref"].removeprefix("#/$defs/"))
    own.pop("title", None)
    own.setdefault("properties", {})
    return {**own, "$defs": definitions} if definitions else own

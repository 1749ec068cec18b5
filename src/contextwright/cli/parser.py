"""The parser: functions whose parameters say which arguments and options they take, as commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import inf
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import click
import msgspec

from contextwright.cli.options import Argument, Option, OptionGroup
from contextwright.errors import shown

__all__ = ["CONTEXT", "Function", "command_of"]

Function: TypeAlias = Callable[..., int]

REQUIRED: Any = object()
"""The default of a parameter that a call must give."""

CONTEXT = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
}


class OneCommand(click.Command):
    """A command that takes negative numbers as arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of a call; an error names this command."""
        try:
            return super().parse_args(ctx, self.with_negative_numbers(args))
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def with_negative_numbers(self, args: list[str]) -> list[str]:
        """Put arguments after `--` if one of them looks like an option but is a number.

        An id like those of Telegram's groups is one, and no option consists of digits.
        """
        takes_value = {
            name
            for option in self.params
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        options: list[str] = []
        words: list[str] = []
        rest = list(args)
        while rest and rest[0] != "--":
            argument = rest.pop(0)
            if is_negative(argument) or not argument.startswith("-") or argument == "-":
                words.append(argument)
            else:
                options.append(argument)
                if argument in takes_value and rest:
                    options.append(rest.pop(0))
        if not any(map(is_negative, words)):
            return args
        return [*options, "--", *words, *rest[1:]]


def is_negative(argument: str) -> bool:
    """Whether an argument is a negative number."""
    return argument.startswith("-") and argument[1:].isdecimal()


class Number(click.ParamType[int | float]):
    """A number within limits."""

    def __init__(self, kind: type[int | float], least: float | None, most: float | None) -> None:
        self.kind, self.least, self.most = kind, least, most
        self.name = "n"

    @property
    def limits(self) -> str:
        """The limits in words; empty if there are none."""
        if self.least is None:
            return "" if self.most is None else f"at most {self.most:g}"
        if self.most is None:
            return f"at least {self.least:g}"
        return f"{self.least:g} to {self.most:g}"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | float:
        """Return the number that an argument spells."""
        try:
            number = self.kind(value)
        except ValueError:
            self.fail(f"{shown(value)} is not a {'whole ' * (self.kind is int)}number", param, ctx)
        if not abs(number) < inf:  # nan is not either
            self.fail(f"{shown(value)} is not a finite number", param, ctx)
        is_low = self.least is not None and number < self.least
        if is_low or (self.most is not None and number > self.most):
            self.fail(f"{shown(value)} is out of range: {self.limits}", param, ctx)
        return number


class LimitedOption(click.Option):
    """An option whose help names the limits of its number."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what stands in brackets: default, limits, whether it is required."""
        limits = self.type.limits if isinstance(self.type, Number) else ""
        extra = super().get_help_extra(ctx)
        return {**extra, "range": limits} if limits else extra


# --- from functions ------------------------------------------------------------------------------


def command_of(name: str, function: Function) -> click.Command:
    """Return the command that a function is; its option groups are separate options of it."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[OptionGroup]] = {}
    parameters: list[click.Parameter] = []
    for each in inspect.signature(function).parameters.values():
        hint = hints[each.name]
        if isinstance(hint, type) and issubclass(hint, OptionGroup):
            groups[each.name] = hint
            parameters += parameters_of(hint)
        else:
            default = REQUIRED if each.default is inspect.Parameter.empty else each.default
            parameters.append(parameter_of(each.name, hint, default))
    lists = [each.name or "" for each in parameters if each.multiple or each.nargs == -1]

    def run(**values: Any) -> int:
        for field in lists:
            values[field] = list(values[field]) or None
        given = {
            name: group(**{field: values.pop(field) for field in group.__struct_fields__})
            for name, group in groups.items()
        }
        return function(**values, **given)

    help = inspect.getdoc(function)
    return OneCommand(name, CONTEXT, callback=run, params=parameters, help=help)


def parameters_of(group: type[OptionGroup]) -> list[click.Parameter]:
    """Return the options of a group."""
    return [
        parameter_of(field.name, field.type, REQUIRED if field.required else field.default)
        for field in msgspec.structs.fields(group)
    ]


def parameter_of(name: str, hint: Any, default: Any) -> click.Parameter:
    """Return the argument or the option that a parameter's annotation describes."""
    annotation, info = get_args(hint)
    kind = without_none(annotation)
    is_list = get_origin(kind) is list
    settings: dict[str, Any] = {
        "metavar": info.metavar,
        "help": info.help,
        "type": type_of(get_args(kind)[0] if is_list else kind, info),
        "shell_complete": info.complete,
    }
    settings |= {"required": True} if default is REQUIRED else {"default": default}
    if isinstance(info, Argument):
        return click.Argument([name], nargs=-1 if is_list else 1, **settings)
    return LimitedOption(
        [name, *info.names],
        is_flag=kind is bool or None,  # False would make a value optional
        multiple=is_list,
        show_default=default not in (REQUIRED, None, ""),
        **settings,
    )


def without_none(annotation: Any) -> Any:
    """Return the type of a value that may be None."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if NoneType in get_args(annotation) else annotation


def type_of(kind: Any, info: Argument | Option) -> click.ParamType[Any]:
    """Return the parser's type for a type of Python."""
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind in (int, float):
        limits = (info.min, info.max) if isinstance(info, Option) else (None, None)
        return Number(kind, *limits)
    return click.BOOL if kind is bool else click.STRING

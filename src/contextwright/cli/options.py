"""Arguments and options that several commands share.

Commands annotate their parameters with `Argument` and `Option`, which `parser.command_of` reads. A
class of `OptionGroup` names options that belong together, and a command takes it as one parameter.
The parser is not imported here, because simple stream commands run without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec import Struct

from contextwright.cli import completion
from contextwright.errors import UsageError

__all__ = [
    "Argument",
    "At",
    "AsJson",
    "Conversation",
    "EmbedderName",
    "File",
    "FileOrConversation",
    "InputFormat",
    "ListChanges",
    "ModelName",
    "ModelsFile",
    "Option",
    "OptionGroup",
    "Output",
    "PayloadFormat",
    "ReplaceInvalid",
    "RequestOptions",
    "RequiredModel",
    "StoreLocation",
    "StoreOptions",
    "TargetOptions",
    "given",
    "refuse",
]


Complete: TypeAlias = Callable[..., list[str]]
"""Returns the values that complete an incomplete one."""


class Argument:
    """An argument of a command, as its usage and help show it."""

    def __init__(self, metavar: str, *, help: str, complete: Complete | None = None) -> None:
        self.metavar, self.help, self.complete = metavar, help, complete


class Option:
    """An option of a command: its names, its help, and the values it takes."""

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        complete: Complete | None = None,
    ) -> None:
        self.names, self.help, self.metavar = names, help, metavar
        self.min, self.max, self.complete = min, max, complete

    def name(self, value: object) -> str:
        """Return the name under which a call gives this value: `--repair` or `--no-repair`."""
        return self.names[0].split("/")[-1 if value is False else 0]


class OptionGroup(Struct, frozen=True, kw_only=True):
    """Options that several commands share as one parameter."""


def given(group: OptionGroup) -> dict[str, Any]:
    """Return the options of a group that differ from their defaults, by their names."""
    hints = get_type_hints(type(group), include_extras=True)
    values = {field.name: getattr(group, field.name) for field in msgspec.structs.fields(group)}
    usual = {field.name: field.default for field in msgspec.structs.fields(group)}
    return {
        hints[name].__metadata__[0].name(value): value
        for name, value in values.items()
        if value != usual[name]
    }


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that would have no effect in this call.

    Raises:
        UsageError: one of them is given; it is named, and `why` completes the sentence.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{name} {why}", hint="leave it out")


# --- what to read ------------------------------------------------------------------------------

File: TypeAlias = Annotated[str, Argument("FILE", help="JSON file, or - for standard input.")]
FileOrConversation: TypeAlias = Annotated[
    str,
    Argument(
        "FILE|CONVERSATION",
        help="JSON file, - for standard input, or the id of a stored conversation.",
        complete=completion.conversations,
    ),
]
Conversation: TypeAlias = Annotated[
    str,
    Argument(
        "CONVERSATION",
        help="Id of a stored conversation.",
        complete=completion.conversations,
    ),
]
InputFormat: TypeAlias = Annotated[
    str | None,
    Option(
        "--from",
        metavar="FORMAT",
        help="Format of the input (see cw formats). Default: detected.",
        complete=completion.formats,
    ),
]
PayloadFormat: TypeAlias = Annotated[
    str | None,
    Option(
        "--format",
        "-f",
        "--from",
        metavar="FORMAT",
        help="Format of the input (see cw formats). Default: detected.",
        complete=completion.formats,
    ),
]
At: TypeAlias = Annotated[
    int | None,
    Option("--at", min=1, metavar="N", help="Stop after message N. Default: the last."),
]
ReplaceInvalid: TypeAlias = Annotated[
    bool,
    Option(
        "--replace-invalid",
        help="Replace characters that cannot be stored with U+FFFD.",
    ),
]

# --- what to print -----------------------------------------------------------------------------

AsJson: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]
Output: TypeAlias = Annotated[
    str | None,
    Option("--output", "-o", metavar="FILE", help="Write to a file, not to stdout."),
]
ListChanges: TypeAlias = Annotated[
    bool, Option("--changes", help="List every change on stderr. Default: count them.")
]

# --- models ------------------------------------------------------------------------------------

MODEL = Option(
    "--model",
    "-m",
    metavar="MODEL",
    help="Target model (see cw models).",
    complete=completion.models,
)
RequiredModel: TypeAlias = Annotated[str, MODEL]
ModelName: TypeAlias = Annotated[str | None, MODEL]
ModelsFile: TypeAlias = Annotated[
    str | None,
    Option(
        "--models",
        metavar="FILE",
        help="Your own model facts (TOML or JSON). They override the built-in ones.",
    ),
]
EmbedderName: TypeAlias = Annotated[
    Literal["auto", "multilingual", "wordllama", "none"],
    Option(
        "--embedder",
        help="Embedder for vectors; auto: the first installed; none: words only.",
    ),
]


# --- groups ------------------------------------------------------------------------------------


StoreLocation: TypeAlias = Annotated[
    str | None,
    Option(
        "--store",
        "-s",
        metavar="FILE|URL",
        help="SQLite file or postgresql://… URL of the store. "
        "Default: CONTEXTWRIGHT_STORE, else a file in your data folder.",
    ),
]


class StoreOptions(OptionGroup, frozen=True, kw_only=True):
    """Which store a command works on."""

    store: StoreLocation = None
    tenant: Annotated[
        str, Option("--tenant", metavar="NAME", help="Tenant name. Default: none.")
    ] = ""

    @property
    def is_named(self) -> bool:
        """Whether the call names a store or a tenant."""
        return self.store is not None or self.tenant != ""


class TargetOptions(OptionGroup, frozen=True, kw_only=True):
    """The model a request is for, and how large it may be."""

    model: RequiredModel
    models: ModelsFile = None
    format: Annotated[
        str | None,
        Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="Format of the request. Default: the model's own.",
            complete=completion.formats,
        ),
    ] = None
    budget: Annotated[
        int | None,
        Option(
            "--budget",
            "-b",
            min=1,
            metavar="N",
            help="Token budget of the whole request. "
            "Default: the recipe's, else the model's input limit.",
        ),
    ] = None
    max_output_tokens: Annotated[
        int | None,
        Option(
            "--max-output-tokens",
            min=1,
            metavar="N",
            help="Tokens reserved for the answer. Default: the recipe's.",
        ),
    ] = None


class RequestOptions(TargetOptions, frozen=True, kw_only=True):
    """Everything a request depends on besides the conversation."""

    recipe: Annotated[
        str,
        Option(
            "--recipe",
            "-r",
            metavar="NAME|FILE",
            help="Recipe name or file (see cw recipes).",
            complete=completion.recipes,
        ),
    ] = "default"
    tools: Annotated[
        str | None,
        Option(
            "--tools",
            metavar="FILE",
            help="Tools (JSON list) to use instead of the conversation's own.",
        ),
    ] = None
    agents: Annotated[
        str | None,
        Option(
            "--agents",
            metavar="FILE",
            help="For port42: agents.json with the agents' instructions.",
        ),
    ] = None
    agent: Annotated[
        str | None,
        Option(
            "--agent",
            metavar="NAME",
            help="For port42: the agent that answers. Default: the session's own.",
        ),
    ] = None

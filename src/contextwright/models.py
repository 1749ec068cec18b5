"""Facts about models: what their API accepts, how large they are, what they cost.

The facts are data (`data/models.toml`), never branches on names. A family holds what its
models share and what an unknown name of that family gets; a model row adds its own facts.

    find("claude-sonnet-4-5-20250929")    # exact: a dated spelling of a known model
    find("gpt-5.6-nova")                  # prefix: taken from gpt-5.6, and says so
    find("claude-saga-7")                 # default: what the family's newest models share
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from contextwright.errors import ParseError, UsageError, require, shown

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ImageRule", "Model", "Models", "Prices", "find", "is_same_model"]

Matched: TypeAlias = Literal["exact", "prefix", "default"]
Row: TypeAlias = dict[str, Any]


class Prices(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """US dollars per million tokens; None if unknown."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    """Writing to the cache for its usual lifetime (5 minutes at Anthropic, 30 at OpenAI)."""
    cache_write_1h: float | None = None


class ImageRule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many tokens an image costs; `tokens/images.py` has the arithmetic of each kind."""

    kind: Literal["tiles", "patches", "area", "grid", "fixed"] = "fixed"
    base: int = 0
    """Tokens of an image of any size."""
    each: float = 0
    """Tokens per tile or patch; pixels per token for `area`."""
    edge: int = 0
    """For `area`: images are first scaled down to this many pixels on their long side."""
    most: int = 0
    """The most tokens an image can cost; the count of an image of unknown size."""


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The facts about one model, and how they were found."""

    id: str
    """The name that was asked for, as it goes into a request."""
    known_as: str = ""
    """The row or family of the table that the facts come from."""
    matched: Matched = "exact"
    note: str = ""
    """The origin of the facts, if the name itself is not in the table."""

    provider: str = "unknown"
    format: str = "openai-chat"
    max_input: int = 128_000
    max_output: int | None = None
    """The most tokens of an answer; None if not known."""
    tokenizer: str = "o200k_base"
    rates: str = "generic"
    """The row of `data/rates.toml` for what messages and tools cost beyond their text."""
    image: ImageRule = ImageRule("fixed", most=1_600)
    audio_per_second: float = 32
    video_per_second: float = 300
    page: int = 3_000
    """The most tokens one page of a PDF costs."""
    hosted_tools: bool = False
    """Whether the model searches or runs code by itself, at a cost that no request shows."""

    max_media: int | None = None
    """The most images and documents a request may hold; None if no limit is known."""

    prefill: bool = True
    """Whether a request may end with an assistant turn."""
    mid_system: bool = True
    """Whether a system message may be in mid-conversation, in the provider's format."""
    system_role: bool = True
    developer_role: bool = False
    always_thinks: bool = False
    disable_thinking: bool = True
    legacy_thinking: bool = False
    """Whether `thinking.type: "enabled"` with a budget is accepted."""
    adaptive_thinking: bool = False
    efforts: tuple[str, ...] | None = None
    """The levels of effort that requests may name, the least first; None if they are not known."""
    effort_with_tools: bool = True
    """Whether Chat Completions takes an effort, other than `none`, beside functions."""
    tools_without_effort: bool = True
    """Whether Chat Completions takes functions in a request that names no effort."""
    thinking_budgets: bool = False
    """Gemini: whether `thinkingBudget` is accepted."""
    least_thinking: int = 1
    """Gemini: the smallest `thinkingBudget` beside 0, which is refused if thinking stays on."""
    most_thinking: int = 24_576
    """Gemini: the largest `thinkingBudget`."""
    bound_thinking: bool = False
    """Whether thinking is refused if anything before it has changed since it was signed."""
    forced_tool_use: bool = True
    """Whether `tool_choice` may force a call."""
    sampling: bool = True
    """Whether `temperature` and similar settings are accepted."""
    verbosity: bool = True
    """OpenAI: whether `verbosity` may be another one than `medium`."""
    stop_sequences: bool = True
    """Whether Chat Completions takes `stop` for it."""
    same_tool_names: bool = True
    """Whether Chat Completions takes several tools of one name for it."""
    temperature_with_top_p: bool = True
    """Whether a request may set both `temperature` and `top_p`."""
    audio_input: bool = False
    thought_signatures: bool = False
    """Whether replayed function calls need their `thoughtSignature`."""
    function_response_parts: bool = False
    """Whether a function response may hold media."""
    mixed_tools: bool = True
    """Gemini: whether one request may have functions, hosted tools and JSON output."""

    cache_minimum: int | None = None
    """Prefixes shorter than this many tokens are never cached."""
    cache_breakpoints: bool = False
    """Whether the request may set cache breakpoints."""
    prices: Prices = Prices()
    retires: str | None = None
    """The day (ISO 8601) the provider switches it off."""

    @property
    def through_host(self) -> bool:
        """Whether the name is another host's, which may frame a request differently."""
        name = unquoted(self.id).lower()
        return "/" in name or HOSTED.match(name) is not None


class Models:
    """A table of models: the one in the package, or that one with rows of your own."""

    def __init__(self, families: Mapping[str, Row], models: Mapping[str, Row], source: str) -> None:
        self._families = dict(families)
        self._rows = dict(models)
        self._source = source
        self._prefixes = prefixes_by_length(families, source)
        self._defaults = {name: self._model(f"families.{name}", name, {}) for name in families}
        self._models = {id: self._row(id, row) for id, row in models.items()}
        self._spelled = {spelling(id): model for id, model in self._models.items()}
        self._longest = sorted(self._spelled, key=len, reverse=True)
        for id, row in models.items():
            # After `_longest`: an alias is a whole name, never the beginning of another.
            for alias in strings(row, "aliases", f"{source}: models.{id}"):
                self._spelled[spelling(alias)] = self._models[id]

    @classmethod
    def shipped(cls) -> Models:
        """Return the table of the package; it is read once, at the first call."""
        return _shipped()

    def with_file(self, path: str | Path) -> Models:
        """Return this table with the rows of a TOML or JSON file, which override ours.

        The file has the shape of ours: `[models."my-model"]` with any fields of `Model`, and
        `family` for where the rest comes from; `[families.mine]` with `prefixes` and fields.
        """
        return self.with_rows(read_table(path), source=str(path))

    def with_rows(self, table: Mapping[str, Any], *, source: str = "models") -> Models:
        """Return this table with the rows of a mapping that has the shape of such a file."""
        families, models = sections(table, source)
        for name, row in families.items():
            families[name] = {**self._families.get(name, {}), **row}
        for id, row in models.items():
            models[id] = {**self._rows.get(id, {}), **row}
        return Models({**self._families, **families}, {**self._rows, **models}, source)

    def find(self, name: str) -> Model:
        """Return the facts about a model: by name, by longest known prefix, or by family.

        Any name has an answer; `matched` and `note` say how much of it is a guess.
        """
        require(name, str, "the name of a model")
        if name in self._models:
            return self._models[name]
        model = self._facts(name)
        if model.mid_system and IN_CLOUD.search(unquoted(name).lower()):
            return msgspec.structs.replace(model, mid_system=False)
        return model

    def _facts(self, name: str) -> Model:
        """Return the facts about a name that is not a row of the table."""
        plain = spelling(name)
        model = self._spelled.get(plain)
        if model is not None:
            note = f"{shown(name)} is read as {model.known_as}"
            return msgspec.structs.replace(model, id=name, note=note)
        for known in self._longest:
            # Only at a boundary: gpt-4-1106-preview is not a gpt-4.1.
            if plain.startswith(known) and not plain[len(known)].isalnum():
                model = self._spelled[known]
                note = f"{shown(name)} is not in the table; facts of {model.known_as}"
                return msgspec.structs.replace(model, id=name, matched="prefix", note=note)
        return self._family_default(name, plain)

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    def __len__(self) -> int:
        return len(self._models)

    def _family_default(self, name: str, plain: str) -> Model:
        family = self._family_of(plain)
        if family == "default":
            note = f"{shown(name)} is not known; treated as an unknown OpenAI-compatible model"
        else:
            note = f"{shown(name)} is not in the table; defaults of the {family} family"
        default = self._defaults[family]
        return msgspec.structs.replace(default, id=name, matched="default", note=note)

    def _family_of(self, plain: str) -> str:
        for prefix, name in self._prefixes:
            if plain.startswith(prefix):
                return name
        return "default"

    def _row(self, id: str, row: Row) -> Model:
        facts = {key: value for key, value in row.items() if key not in ("aliases", "family")}
        family = row.get("family") or self._family_of(spelling(id))
        place = f"models.{id}"
        if family not in self._families:
            known = ", ".join(self._families)
            raise ParseError(
                f"unknown family {shown(family)}",
                path=f"{self._source}: {place}.family",
                hint=f"known: {known}",
            )
        return self._model(place, family, {**facts, "id": id, "known_as": id})

    def _model(self, place: str, family: str, facts: Row) -> Model:
        shared = {key: value for key, value in self._families[family].items() if key != "prefixes"}
        merged = {"id": family, "known_as": family, **shared, **facts}
        try:
            return msgspec.convert(merged, Model)
        except msgspec.ValidationError as error:
            raise ParseError(str(error), path=f"{self._source}: {place}") from None


def find(name: str, *, models: Models | None = None) -> Model:
    """Return the facts about a model, from the package's table unless another is given."""
    return (models or Models.shipped()).find(name)


DATED = re.compile(
    r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|default|\d{3,4})|-v\d+(?::\d+)?|:[^/]*)$"
)
"""Endings that name an edition of a model: dates, `-latest`, `-v1:0`, `:free`."""

HOSTED = re.compile(r"^(?:[a-z]+(?:-[a-z]+)*\.)+(?=[a-z])")
"""Beginnings that name a host or region, as on Bedrock: `us.anthropic.`."""

MAX_NAME_CHARS = 1_000
"""Characters of a name that are looked at: no provider's is nearly as long."""

TURNED = re.compile(r"^claude-((?:[4-9]|\d\d)(?:-\d)?)-([a-z]+)$")
"""Names of Claude as OpenRouter has them in answers, with the version first."""

IN_CLOUD = re.compile(r"\banthropic\.claude|\bclaude[^/]*@")
"""Names of Claude on Bedrock and Vertex, which refuse system messages in mid-conversation."""


def spelling(name: str) -> str:
    """Normalise a model's name: drop what hosts and editions add.

    `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `anthropic/claude-sonnet-4.5` and
    `claude-sonnet-4-5` are one model.
    """
    plain = unquoted(name).strip().lower()
    plain = plain.removeprefix("ft:").rsplit("/", 1)[-1]
    plain = HOSTED.sub("", plain)
    while (shorter := DATED.sub("", plain)) != plain and shorter:
        plain = shorter
    return TURNED.sub(r"claude-\2-\1", plain.replace(".", "-").replace("_", "-"))


def unquoted(name: str) -> str:
    """Return the beginning of a name, percent-decoded."""
    name = name[:MAX_NAME_CHARS]
    if "%" not in name:
        return name
    from urllib.parse import unquote  # imported for the first name that needs it

    return unquote(name)


LOADING = Lock()
"""Held while the table is read: msgspec crashes if two threads first convert to one type."""


def _shipped() -> Models:
    with LOADING:
        return _load_shipped()


@cache
def _load_shipped() -> Models:
    text = pkgutil.get_data("contextwright", "data/models.toml") or b""
    return Models(*sections(msgspec.toml.decode(text), "models.toml"), source="models.toml")


def sections(table: Mapping[str, Any], source: str) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return families and models of a table, each a mapping of names to rows."""
    for name in table:
        if name not in ("families", "models"):
            raise ParseError(
                f"unknown section {shown(name)}",
                path=source,
                hint='a table has [models."…"] and [families.…]',
            )
    return rows(table, "families", source), rows(table, "models", source)


def prefixes_by_length(families: Mapping[str, Row], source: str) -> list[tuple[str, str]]:
    """Return every prefix with its family, the longest first, normalised like `spelling`."""
    found: list[tuple[str, str]] = []
    for name, row in families.items():
        for prefix in strings(row, "prefixes", f"{source}: families.{name}"):
            found.append((prefix.lower().replace(".", "-"), name))
    return sorted(found, key=lambda pair: -len(pair[0]))


def strings(row: Row, name: str, place: str) -> list[str]:
    """Return a field of a row that lists strings."""
    try:
        return msgspec.convert(row.get(name, []), list[str])
    except msgspec.ValidationError as error:
        raise ParseError(str(error), path=f"{place}.{name}") from None


def rows(table: Mapping[str, Any], name: str, source: str) -> dict[str, Row]:
    """Return one section of a table; every row of it is a mapping."""
    try:
        return msgspec.convert(table.get(name, {}), dict[str, Row])
    except msgspec.ValidationError as error:
        raise ParseError(str(error), path=f"{source}: {name}") from None


def read_table(path: str | Path) -> dict[str, Any]:
    """Read a table of models from a TOML or JSON file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "name a TOML or JSON file"
        raise UsageError(f"cannot read {shown(str(path))}: {reason}", hint=hint) from None
    except UnicodeDecodeError:
        raise ParseError("not UTF-8 text", path=str(path)) from None
    try:
        if str(path).endswith(".json"):
            return msgspec.json.decode(text, type=dict[str, Any])
        return msgspec.toml.decode(text)
    except msgspec.DecodeError as error:
        raise ParseError(str(error), path=str(path)) from None
    except RecursionError:
        raise ParseError("nested too deeply", path=str(path)) from None
    except ValueError:  # of `int`
        raise ParseError("an integer of too many digits", path=str(path)) from None


@lru_cache(256)
def find_by_name(name: str) -> Model:
    """Return the facts about a model, from the package's table; looked up once for each name."""
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise UsageError(f"{shown(name)} is not a valid model name", hint="see cw models")
    return find(name)


def is_same_model(name: str, other: str) -> bool:
    """Whether two names mean one model.

    Providers answer under the name of an edition: `claude-sonnet-4-5-20250929` if they were asked
    for `claude-sonnet-4-5`.
    """
    return name == other or identity_of(name) == identity_of(other)


@lru_cache(256)
def identity_of(name: str) -> str:
    """Return what all names of a model have in common."""
    found = find(name)
    return found.known_as if found.matched == "exact" else spelling(name)


def as_model(model: str | Model) -> Model:
    """Return the facts about a model given by name or as facts."""
    if isinstance(model, str):
        return find_by_name(model)
    if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a model cannot be {shown(model)}", hint="pass its name, or a Model")
    return model

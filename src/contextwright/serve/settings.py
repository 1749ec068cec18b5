"""The settings of a gateway: a table of routes by the model's name, and limits."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from contextwright.context.recipe_files import find as find_recipe
from contextwright.errors import ContextwrightError, ParseError, UsageError, shown
from contextwright.providers.hosts import Host, host_for
from contextwright.text.fields import wrong_value
from contextwright.text.json import convert
from contextwright.text.toml import decode_toml

__all__ = ["ECHO", "Api", "GatewaySettings", "Route", "read_settings"]

ECHO = "echo"
"""The upstream that works without a network: it answers with the question."""


Api: TypeAlias = Literal["anthropic", "gemini", "openai-chat", "openai-responses"]
AtLeastOne: TypeAlias = Annotated[int, Meta(ge=1)]
Days: TypeAlias = Annotated[float, Meta(ge=0, le=36_500)]

known_host = cache(host_for)
"""Each request asks for the host of its route several times."""


class Route(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which requests go where, and what happens to them on the way."""

    model: str
    """A pattern of model names, such as `claude-*`."""
    upstream: str
    """The name of a host: `openai`, `anthropic`, `gemini`, `openrouter` …, or `echo`."""
    api: Api | None = None
    """Only requests of clients of one API; all if None."""
    base_url: str | None = None
    """Another address that speaks the same API."""
    send_as: str | None = None
    """The model to ask for instead of the client's."""
    key_variable: str | None = None
    """The environment variable with the gateway's own key; clients then need the token."""
    recipe: str | None = None
    """A recipe by name or file: its window, budget and cache marks."""
    budget: AtLeastOne | None = None
    mend: bool = False
    """Whether requests of the upstream's own API are mended too, and not passed on as they are."""

    def host(self, format: str) -> Host:
        """Return the upstream for clients of a format: OpenAI speaks both of its APIs."""
        name = self.upstream
        if name == "openai" and format == "openai-responses":
            name = "openai-responses"
        return known_host(name, self.base_url)

    def is_open(self, format: str) -> bool:
        """Whether the bytes of a client's request can go to the upstream as they are."""
        changed = self.recipe or self.budget or self.send_as or self.mend
        return self.upstream != ECHO and not changed and self.host(format).format == format

    def is_transparent(self, format: str) -> bool:
        """Whether requests go to the upstream as they are, with the client's own key."""
        return self.is_open(format) and self.key_source(format) is None

    def key_source(self, format: str, *, always: bool = False) -> str | None:
        """Return the environment variable with the key that the gateway adds; None if it adds none.

        Where bytes go through as they are, the client's own key goes with them, unless the
        gateway is `always` to use its own.
        """
        if self.upstream == ECHO:
            return None
        if self.key_variable is None and self.is_open(format) and not always:
            return None
        return self.key_variable or self.host(format).key_variable


DEFAULT_ROUTES = (
    Route(ECHO, ECHO),
    Route("claude-*", "anthropic"),
    Route("gemini-*", "gemini"),
    Route("*", "openai"),
)


class GatewaySettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The settings of a gateway."""

    routes: tuple[Route, ...] = DEFAULT_ROUTES
    """The first whose pattern fits is taken."""
    hosts: tuple[str, ...] = ()
    """Names under which the gateway may be called besides those of this machine."""
    max_body_bytes: AtLeastOne = 64 << 20
    max_requests: AtLeastOne = 256
    """How many requests are answered at once; others get status 503."""
    store: str | None = None
    """The file or URL of the store."""
    record: bool = True
    """Whether requests and answers are kept in the store."""
    redact: Literal["content"] | None = None
    """`content`: only figures are kept, neither bodies nor messages."""
    keep_days: Days | None = None
    """Recorded requests that are older are removed; messages stay."""
    telemetry: Literal["figures", "content"] | None = None
    """Whether OpenTelemetry gets spans and metrics of recorded requests; `content`: what was said
    too.
    """

    def route_for(self, model: str, format: str) -> Route:
        """Return the route of a model, for clients of a format.

        Raises:
            UsageError: no pattern fits.
        """
        for route in self.routes:
            if route.api in (None, format) and fnmatchcase(model, route.model):
                return route
        raise UsageError(f"no route is set for the model {shown(model)}")

    def passing(self, format: str) -> Route | None:
        """Return the first route that passes requests on as they are, with the client's own key."""
        return next((one for one in self.routes_of(format) if one.is_transparent(format)), None)

    def is_transparent(self, format: str) -> bool:
        """Whether all requests of clients of a format go to one upstream as they are."""
        routes = [one for one in self.routes_of(format) if one.upstream != ECHO]
        return len(routes) == 1 and routes[0].model == "*" and routes[0].is_transparent(format)

    def routes_of(self, format: str) -> list[Route]:
        """Return the routes that clients of a format may take."""
        return [one for one in self.routes if one.api in (None, format)]


def read_settings(path: str | Path) -> GatewaySettings:
    """Read settings from a TOML file with a table `[[routes]]` for each route.

    Raises:
        UsageError: the file cannot be read, or names something unknown.
    """
    try:
        written = decode_toml(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ParseError as error:
        raise UsageError(f"{path}: {error}") from error
    try:
        settings = convert(written, GatewaySettings)
    except msgspec.ValidationError as error:
        wrong = wrong_value(written, GatewaySettings, error)
        raise UsageError(f"{path}: {wrong.args[0]}", hint=wrong.hint) from error
    for index, route in enumerate(settings.routes):
        try:
            require_known(route)
        except ContextwrightError as error:
            raise UsageError(f"{path}: routes[{index}]: {error.args[0]}", hint=error.hint) from None
    return settings


def require_known(route: Route) -> None:
    """Refuse a route whose requests would all fail.

    Raises:
        ContextwrightError: its upstream, address or recipe is not known.
    """
    if route.upstream != ECHO:
        host_for(route.upstream, route.base_url)
    if route.recipe is not None:
        find_recipe(route.recipe)

"""Prices of messages before a request is rendered, and of the request itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from contextwright.context.fitting.shape import (
    Shape,
    Template,
    output_of,
    sample_of,
    shape_of,
    template_of,
)
from contextwright.context.receipt import beside_prompt, is_marked, steps_of
from contextwright.formats.api import render
from contextwright.formats.base import Rendered
from contextwright.formats.rules.draft import clean_name
from contextwright.messages.message import Author, Message, Role
from contextwright.messages.parts import Text, ToolResult
from contextwright.models import Model
from contextwright.text.json import encode_json
from contextwright.tokens.count import Count, Pricer
from contextwright.tokens.pieces import Piece, Turn, outline
from contextwright.wire.values import is_object

__all__ = ["Counted", "TokenMeter", "meter_of"]


PROVIDERS = ("anthropic", "gemini", "openai-chat", "openai-responses")
"""Formats that write a text as it is, in a piece of its own."""
MERGING: tuple[Role, ...] = ("user", "assistant", "tool")
"""Roles of which adjacent messages may make one turn."""
PLAIN = ["role", "content"]
"""The fields of most steps, in order."""
MAX_EMPTY = 16
"""Maximum number of requests without messages whose tokens are remembered."""
ROUNDING = 3
"""Tokens by which a bound, what may not be charged, and their sum are rounded up."""


class Counted(Struct, frozen=True):
    """The tokens of a request, and the JSON of its prompt."""

    count: Count
    steps: list[tuple[str, bytes]]
    """The JSON of each step with its place, in the order the provider reads them."""
    marked: bool
    """Whether the request may hold cache marks."""


class TokenMeter:
    """Counts for one format and model; tokenises every text once, however often it is sent."""

    def __init__(self, format: str, model: Model) -> None:
        self.format = format
        self.model = model
        self._pricer = Pricer(model, format, model.tokenizer)
        self._templates = templates_of(format, model)
        self._wrappings = wrappings_of(format, model)
        self._labels: dict[str, float] = {}
        self._unmarked: set[bytes] = set()
        self._plain: dict[tuple[str, str], bytes] = {}
        """The JSON of steps that are a role and a text."""
        self._empty: dict[str | bytes, Count] = {}
        texts = self._pricer.texts
        texts.cleared += [self._unmarked.clear, self._plain.clear, self._labels.clear]

    @property
    def drops_orphans(self) -> bool:
        """Whether results that answer no call are not sent."""
        return drops_orphans(self.format, self.model)

    @property
    def drops_thinking(self) -> bool:
        """Whether thinking before the newest question costs nothing."""
        return self._pricer.rates.drops_reasoning

    def slack(self, budget: int) -> float:
        """Return by how much the count of a request may exceed the sum of its parts.

        One that is not exact has a doubt of its own, and its bound is rounded up to a thousandth.
        Where texts are counted exactly, calls and media are not.
        """
        return self._pricer.rates.slack + ROUNDING + budget / 1000

    def cost(self, message: Message) -> float:
        """Return the tokens that a message adds to a request, at the tokenizer's upper bound."""
        if message.role == "system":
            return self._system_cost(message)
        found = shape_of(message) if self.format in PROVIDERS else None
        if found is None:
            return self._pricer.most(self._outline(message))
        shape, texts = found
        template = self._templates.get(shape)
        if template is None:
            template = self._templates[shape] = self._template(shape, len(texts))
        tokens, doubted, price = template.tokens, template.doubted, self._pricer.text_price
        for kind, number, is_output in template.slots:
            text = texts[number]
            cost, doubt, _ = price(kind, output_of(text) if is_output else text)
            tokens += cost
            doubted += abs(cost) * doubt
        return tokens + doubted

    def together(self, *messages: Message) -> float:
        """Return the tokens that adjacent messages add to a request."""
        return self._pricer.most(self._outline(*messages))

    def _system_cost(self, message: Message) -> float:
        """Return what a system message adds at the beginning or behind a question, if that is more.

        Alone it would be another request: some providers need a question beside it.
        """
        question = sample_of(("user", ("text",)))
        orders = (message, question), (question, message)
        both = max(self.together(*order) for order in orders)
        return both - self.cost(question)

    @property
    def merges_turns(self) -> bool:
        """Whether adjacent messages of one role make one turn, which is wrapped once."""
        return any(self.shared_wrapping(role, role) for role in MERGING)

    def shared_wrapping(self, role: Role, following: Role) -> float:
        """Return the tokens around a turn that two adjacent messages of these roles share."""
        if "system" in (role, following):
            return 0.0
        roles = role, following
        known = self._wrappings.get(roles)
        if known is None:
            kinds = ("result" if one == "tool" else "text" for one in roles)
            pair = [sample_of((one, (kind,))) for one, kind in zip(roles, kinds, strict=True)]
            apart = sum(map(self.cost, pair))
            known = self._wrappings[roles] = max(apart - self.together(*pair), 0.0)
        return known

    @property
    def names_speakers(self) -> bool:
        """Whether messages begin with their speakers' names if several people speak."""
        return names_speakers(self.format, self.model)

    def label(self, message: Message) -> tuple[str, float] | None:
        """Return the name that a message begins with if several people speak, and its tokens."""
        author = message.author
        if author is None or message.role != "user" or message.only_results:
            return None
        name = author.label
        known = self._labels.get(name)
        if known is None:
            piece = Piece("text", "text", f"{clean_name(name)}:")
            known = self._labels[name] = self._pricer.most([piece])
        return name, known

    def estimate(self, message: Message) -> int:
        """Return the tokens that a message is likely to add to a request."""
        return self._pricer.count(self._outline(message), None).tokens

    def text(self, text: str) -> int:
        """Return the most that a bare text can cost."""
        return self._pricer.count([Piece("text", "text", text)], None).most if text else 0

    def tokens(self, text: str) -> int:
        """Return the estimated tokens of a bare text."""
        return self._pricer.count([Piece("text", "text", text)], None).tokens if text else 0

    def count(self, payload: Any) -> Counted:
        """Return the tokens of a whole request, by place; all of it is written as JSON once."""
        steps = [(place, self._encoded(step)) for place, step in steps_of(payload)]
        rest = encode_json(beside_prompt(payload))
        bodies = dict(steps)
        count = self._pricer.count(outline(payload, self.format), bodies=bodies)
        return Counted(count, steps, self._is_marked([rest, *bodies.values()]))

    def _encoded(self, step: Any) -> bytes:
        """Return the JSON of a step; that of a role and a text is written once.

        So the bytes of a message that was sent before are the same object, with its hash.
        """
        if not is_object(step) or [*step] != PLAIN:
            return encode_json(step)
        plain = role, content = step["role"], step["content"]
        if type(role) is not str or type(content) is not str:
            return encode_json(step)
        body = self._plain.get(plain)
        if body is None:
            body = encode_json(step)
            self._pricer.texts.remember(len(body))
            self._plain[plain] = body
        return body

    def empty_count(
        self, key: str | bytes, request: Callable[[], tuple[Rendered, Counted]]
    ) -> Count:
        """Return the tokens of a request without messages; each is counted once, by its `key`.

        A turn invented for it does not count, because a request with messages has none.
        """
        known = self._empty.get(key)
        if known is None:
            rendered, counted = request()
            count, system = counted.count, leading_system(rendered.payload)
            places = {
                place: cost
                for place, cost in count.places.items()
                if not place.endswith("]") or place in system
            }
            known = replace(count, tokens=sum(places.values()), places=places)
            if len(self._empty) >= MAX_EMPTY:
                self._empty.clear()
            self._empty[key] = known
        return known

    def _is_marked(self, bodies: list[bytes]) -> bool:
        """Whether JSON may hold cache marks; what held none before is not searched again."""
        new = set(bodies) - self._unmarked
        if is_marked(b"".join(new)):
            return True
        self._unmarked |= new
        return False

    def _template(self, shape: Shape, texts: int) -> Template:
        """Return what messages of a shape cost, by rendering a sample.

        Rendering each of them would give the same pieces around other texts.
        """
        outlined = self._outline(sample_of(shape))
        pieces = [
            piece
            for one in outlined
            for piece in (one.pieces() if isinstance(one, Turn) else [one])
        ]
        return template_of(pieces, texts, self._pricer.price)

    def _outline(self, *given: Message) -> list[Piece | Turn]:
        """Return what messages alone make, without the frame of a request."""
        messages = [one for message in given for one in split_results(message)]
        payload = render(messages, self.format, model=self.model, repair=False).payload
        return [one for one in outline(payload, self.format) if one.place != "request"]


@lru_cache(16)
def meter_of(format: str, model: Model) -> TokenMeter:
    """Return the meter of all lists and stores, which counts every text once.

    A list that is read again, or a store that is opened again, has the same texts in new messages.
    """
    return TokenMeter(format, model)


@lru_cache(64)
def templates_of(format: str, model: Model) -> dict[Shape, Template]:
    """Return the samples rendered so far, which all meters of a format and a model share."""
    return {}


@lru_cache(64)
def drops_orphans(format: str, model: Model) -> bool:
    """Whether results that answer no call are not sent."""
    orphan = [sample_of(("user", ("text",))), sample_of(("tool", ("result",)))]
    changes = render(orphan, format, model=model).changes
    return any(change.code == "loss.orphan" for change in changes)


@lru_cache(64)
def wrappings_of(format: str, model: Model) -> dict[tuple[Role, Role], float]:
    """Return the shared wrappings computed so far, for all meters of a format and a model."""
    return {}


@lru_cache(64)
def names_speakers(format: str, model: Model) -> bool:
    """Whether messages begin with their speakers' names if several people speak."""
    ann, bob = (Message("user", (Text("ab"),), author=Author(name=name)) for name in ("Ann", "Bob"))
    meter = TokenMeter(format, model)
    apart = meter.cost(ann) + meter.cost(bob) - meter.shared_wrapping("user", "user")
    # Two names and their colons; a separator alone may cost something too.
    return meter.together(ann, bob) >= apart + 3


def leading_system(payload: Any) -> list[str]:
    """Return the places of leading system messages, in formats without a field for them."""
    body: Any = payload.get("messages") if is_object(payload) else payload
    places: list[str] = []
    for index, message in enumerate(cast("list[Any]", body or [])):
        if not is_object(message) or message.get("role") not in ("system", "developer"):
            break
        places.append(f"messages[{index}]")
    return places


def split_results(message: Message) -> list[Message]:
    """Split a message as the render rules do: results are never the assistant's own text."""
    results = message.results
    if not results or message.role == "tool" or len(results) == len(message.parts):
        return [message]
    words = [part for part in message.parts if type(part) is not ToolResult]
    return [message.with_parts(words), Message("tool", results)]

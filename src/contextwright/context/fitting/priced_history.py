"""A history with the prices of one format and model, kept from one build to the next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from contextwright.context.fitting.meter import TokenMeter
from contextwright.context.fitting.thinking import without_thinking
from contextwright.context.receipt import HashChain
from contextwright.context.recipe_data import RecipeData
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.models import Model
from contextwright.summaries.digest import Digest
from contextwright.summaries.policy import SummaryPolicy
from contextwright.summaries.summary import Summary, SummaryResult
from contextwright.summaries.writer import write_summary
from contextwright.windows.clearing import Clearing
from contextwright.windows.history import History
from contextwright.windows.list_end import load_end
from contextwright.windows.log import Log
from contextwright.windows.policies import Window

__all__ = ["OwnSummaries", "PricedHistory"]

replace = msgspec.structs.replace

NEWEST = 1_000
"""The messages of a long list that are loaded at first; then four times as many each time."""


class PricedHistory:
    """Messages to keep and add to, so that builds count nothing twice.

    Counts and the last summary are only a cache: a build returns the same without them.
    """

    def __init__(
        self, messages: Iterable[Message] | Log, meter: TokenMeter, recipe: RecipeData
    ) -> None:
        self.meter = meter
        self.frame = Conversation(())
        """The conversation without its messages."""
        self._asked = recipe.clearing
        self.clearing = capped(recipe.clearing, meter.model)
        self.skip_system = recipe.stored_system == "skip"
        self.history = History(
            messages,
            price=meter.cost,
            clearing=self.clearing,
            skip_system=self.skip_system,
            skip_orphans=meter.drops_orphans,
            shape=without_thinking,
            wrapping=meter.shared_wrapping if meter.merges_turns else None,
            label=meter.label if meter.names_speakers else None,
        )
        self.given: Sequence[Message] | None = None
        """The list of this build, if its log has only the end of it."""
        self.unread: list[Message] = []
        """A copy of what stands in that list before the end that the log has."""
        self._least: tuple[float, Window | None] = 0.0, None
        """Tokens that all messages cost at least, and the window that therefore drops some."""
        self.chain = HashChain()
        self.digest: Digest | None = None
        self.summary: Summary | None = None
        self._written: tuple[tuple[Summary, float], Message | None] | None = None
        self._stand_ins: dict[str, tuple[Message, float]] = {}

    def __len__(self) -> int:
        return len(self.history)

    @property
    def log(self) -> Log:
        """The messages as windows read them."""
        return self.history.log

    @property
    def messages(self) -> Sequence[Message]:
        """All messages of a list; of a store, those that are loaded."""
        return self.log.loaded if self.given is None else self.given

    def append(self, message: Message) -> None:
        """Add one message at the end."""
        self.history.append(message)

    def extend(self, messages: Iterable[Message]) -> None:
        """Add messages at the end."""
        self.history.extend(messages)

    def read(self, messages: Sequence[Message], window: Window) -> None:
        """Read a list that begins with the messages of this history, as far as a window needs."""
        if not len(self):
            needs_all = window.is_unlimited or window.first_messages
            self._load(messages, len(messages) if needs_all else NEWEST)
            return
        self.extend(messages[len(self) :])
        if self.given is not None:
            self.given = messages

    def read_more(self) -> bool:
        """Load more of the list; False if there is no more."""
        if self.given is None:
            return False
        self._load(self.given, 4 * len(self.log.messages))
        return True

    def _load(self, messages: Sequence[Message], newest: int) -> None:
        """Load the newest messages of a list."""
        log = load_end(messages, newest)
        self.history.read_from(log)
        self.given = messages if log.start else None
        self.unread = list(messages[: log.start])

    def fits(self, format: str, model: Model, recipe: RecipeData) -> bool:
        """Whether its prices are for this format, model and recipe."""
        return (
            self.meter.format == format
            and self.meter.model == model
            and self._asked == recipe.clearing
            and self.skip_system == (recipe.stored_system == "skip")
        )

    def outgrow(self, tokens: float, window: Window) -> None:
        """Note the least that all messages cost, and that a window dropped some.

        It is so from now on, because a history only grows; unless old messages are cleared.
        """
        if self.clearing.results is None and self.clearing.media is None:
            self._least = tokens, window

    def exceeds(self, tokens: float, window: Window) -> bool:
        """Whether all messages are known to cost more than a window may keep."""
        return self._least[0] > tokens and self._least[1] == window

    def stand_in_cost(self, name: str, message: Message) -> float:
        """Return the price of a note or a summary; counted again only when it changes."""
        known = self._stand_ins.get(name)
        if known is None or known[0] != message:
            known = self._stand_ins[name] = message, self.meter.cost(message)
        return known[1]

    def summary_message(self, summary: Summary, tokens: float) -> Message | None:
        """Return the message of a summary within a number of tokens."""
        if self._written is None or self._written[0] != (summary, tokens):
            self._written = (summary, tokens), summary.message(tokens, self.meter.cost)
        return self._written[1]


def capped(clearing: Clearing, model: Model) -> Clearing:
    """Return the recipe's clearing, with the provider's limit on media if it sets none."""
    if clearing.most_media is None and model.max_media is not None:
        return replace(clearing, most_media=model.max_media)
    return clearing


class OwnSummaries:
    """Summaries of a history that is entirely in memory."""

    def __init__(self, policy: SummaryPolicy, history: PricedHistory) -> None:
        self.policy, self.history = policy, history

    def upto(self, last: int, kept: Collection[int]) -> SummaryResult:
        """Return the summary of the messages up to `last`; asks the summariser for what is missing.

        A build calls this once, when its cut is final.
        """
        if self.policy.is_digest:
            return SummaryResult(self._digest(last).summary)
        known = self.history.summary
        if known is not None:
            is_other = known.last > last or known.method != self.policy.method
            known = None if is_other or known.tells_any(kept) else known
        if known is not None and known.last == last and set(known.untold).issubset(kept):
            return SummaryResult(known)
        numbers = [*known.untold, *range(known.last + 1, last + 1)] if known else range(1, last + 1)
        said = self.history.messages
        messages = ((number, said[number - 1]) for number in numbers)
        result = write_summary(self.policy, known, messages, kept)
        self.history.summary = result.summary
        return result

    def _digest(self, last: int) -> Digest:
        """Return the digest of the messages up to `last`; continue the last one if possible."""
        known, longest = self.history.digest, self.policy.longest
        if known is None or known.max_chars != longest or known.last > last:
            known = Digest(longest)
        said = self.history.messages
        for index in range(known.last, last):
            known.add(said[index])
        self.history.digest = known
        return known

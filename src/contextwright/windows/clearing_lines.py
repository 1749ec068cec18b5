"""Where clearing of old tool results and media ends; it moves in steps, as a cut does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection
from functools import cached_property

from contextwright.windows.clearing import Clearing
from contextwright.windows.log import Log, Unloaded, media_in
from contextwright.windows.rounding import roundest

__all__ = ["ClearingLines"]

MESSAGES = 128
"""How far the line of results moves, unless a recipe says otherwise. A smaller step makes short
runs dearer than without clearing, because each one rewrites what follows: `docs/windows.md`. It is
a power of two, so that cuts of windows are at the same numbers."""
SHARE = 3.0
"""How many more media than necessary stay, as a share of them, unless a recipe says otherwise."""


class ClearingLines:
    """The indexes before which messages have lost their results, or their media.

    `always` returns the messages that no window drops, and that are never cleared.
    """

    def __init__(self, log: Log, clearing: Clearing, always: Callable[[], Collection[int]]) -> None:
        self._log, self._clearing, self._always = log, clearing, always
        self.results = 0 if clearing.results is None else self._results_line(clearing.results)
        """Messages before this index have lost their results."""
        media = 0 if clearing.media is None else self._media_line(clearing.media)
        self.media = max(media, self._media_cap())
        """Messages before this index have lost their media."""

    @property
    def end(self) -> int:
        """The index from which nothing is cleared."""
        return max(self.results, self.media)

    @cached_property
    def results_before(self) -> int:
        """Where clearing ended before its last step: the previous request is equal up to here."""
        begins, start = self._log.results, self._log.start
        place = bisect_left(begins, self.results) - 1
        if self.results and start and (place < 0 or begins[place] < start):
            raise Unloaded(start - 1)
        return self._last_round(begins[place]) if self.results and place >= 0 else 0

    def _results_line(self, kept: int) -> int:
        """Return the index where clearing of results ends, so that the newest `kept` stay whole.

        It depends on where those begin, and on nothing before that.
        """
        begins, least = self._log.results, max(kept, 1)
        self._require_loaded(begins, least, spared=least - 1)
        return self._last_round(begins[-least]) if len(begins) >= least else 0

    def _last_round(self, index: int) -> int:
        """Return the last index up to one at which clearing of results may end."""
        step, kept = self._clearing.step, self._clearing.results or 1
        messages = MESSAGES if step is None else max(int(kept * step * 2), 1)
        return index // messages * messages

    def _media_line(self, kept: int) -> int:
        """Return the index where clearing of media ends, so that the newest `kept` stay whole.

        Of the positions that leave at most a step more than `kept`, it is the one that stays the
        same for longest.
        """
        pictured, least, step = self._log.pictured, max(kept, 1), self._clearing.step
        most = int(least * (1 + (SHARE if step is None else step)))
        count = len(pictured)
        self._require_loaded(pictured, most + 1, spared=least)
        return self._steadiest(pictured, count - most, count - least) if count > most else 0

    def _media_cap(self) -> int:
        """Return the index where clearing of media ends, so that at most `most_media` are left.

        Clears more than necessary, down to three quarters of the limit, if the line then stays the
        same for longer.
        """
        most, pictured = self._clearing.most_media, self._log.pictured
        if most is None or not pictured:
            return 0
        fitting, spared = self._first_leaving(most), self._first_leaving(most * 3 // 4)
        self._require_loaded(pictured, len(pictured) - fitting + 2, spared=len(pictured) - spared)
        return self._steadiest(pictured, fitting - 1, spared - 1, behind=1) if fitting else 0

    def _first_leaving(self, most: int) -> int:
        """Return the place in `pictured` from which at most `most` media are left.

        Those of messages that always stay are left too, but leave at least one to others: an agent
        needs its newest screenshot.
        """
        log, staying = self._log, self._staying
        count, all_staying = len(log.pictured), sum(staying.values())

        def clearable(place: int) -> int:
            before = [media for index, media in staying.items() if index < log.pictured[place]]
            return log.media_before(place) - sum(before)

        excess = log.media_before(count) - all_staying - max(most - all_staying, 1)
        return bisect_left(range(count), excess, key=clearable) if excess > 0 else 0

    @cached_property
    def _staying(self) -> dict[int, int]:
        """The number of media in each message that always stays."""
        media = self._log.media
        return {index: media_in(self._log[index]) for index in self._always() if index in media}

    def _steadiest(self, indexes: list[int], first: int, last: int, *, behind: int = 0) -> int:
        """Return which of some indexes stays the same for longest; `behind` is added to each.

        It is the one at the roundest number, or the next after it: see `roundest`.
        """
        before = indexes[first - 1] + behind if first else 0
        round = roundest(before, indexes[last] + behind)
        return indexes[bisect_left(indexes, round - behind, first, last)] + behind

    def _require_loaded(self, indexes: list[int], count: int, *, spared: int) -> None:
        """Raise `Unloaded` if messages that are not loaded could be among the newest `count`.

        They do not matter if all that is loaded is among the newest `spared`, which stay whole.
        """
        start = self._log.start
        if start and indexes:
            loaded = len(indexes) - bisect_left(indexes, start)
            if loaded < count and (loaded > spared or indexes[0] < start):
                raise Unloaded(start - 1)

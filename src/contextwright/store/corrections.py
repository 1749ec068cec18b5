"""Changes to stored messages: hide, delete, pin, edit, erase."""

from __future__ import annotations

from typing import Unpack

from contextwright.messages.message import Message, Visibility
from contextwright.store.care import erasure
from contextwright.store.engines.base import Value
from contextwright.store.records import EraseOptions, Erasure, Version
from contextwright.store.rows import turns
from contextwright.store.rows.editing import versions_of
from contextwright.store.rows.validation import require_number
from contextwright.store.state import State

__all__ = ["Corrections"]


class Corrections:
    """The methods of a conversation that change its stored messages."""

    def __init__(self, state: State, id: str) -> None:
        self.state, self.id = state, id

    def hide(self, seq: int) -> None:
        """Exclude a message from every context; `show` brings it back."""
        self._mark_visibility(seq, "hidden")

    def show(self, seq: int) -> None:
        """Return a hidden or deleted message to contexts."""
        self._mark_visibility(seq, "public")

    def delete(self, seq: int) -> bool:
        """Exclude a message from every context, marked as deleted; `show` brings it back.

        Returns False if it was deleted before.
        """
        return self._mark_visibility(seq, "deleted")

    def edit(self, seq: int, message: Message | str, *, keep: bool = True) -> None:
        """Replace a message or its text.

        Contexts have the new text from then on. `meta["edited"]` has the time, and the receipt
        reports the edit, because a provider's cache ends before it. Replies quote the new text;
        summaries, episodes and the index are rebuilt. With `keep` the old version is among
        `versions`, without it is erased.

        Raises:
            NotFound: there is no such message.
            UsageError: it was erased, or has another role, other calls or other results.
        """
        require_number(seq)
        erasure.edit(self.state, self.id, seq, message, keep=keep)

    def versions(self, seq: int) -> list[Version]:
        """Return the earlier versions of a message, oldest first."""
        require_number(seq)
        return self.state.engine.read(
            lambda connection: versions_of(connection, self.state.tenant, self.id, seq)
        )

    def erase(self, *seqs: int, **options: Unpack[EraseOptions]) -> Erasure:
        """Remove the text of messages permanently; a placeholder keeps their numbers.

        Excerpts in replies, old versions, memories, episodes and summaries made from them, their
        index entries and their vectors are removed too, also in forks.

        Args:
            scrub: rewrite the database's files at once, so that no byte is left; True by default.
                It takes as long as a copy; on Postgres others wait. Else call `Store.scrub`.
            dry_run: only report what would be erased.

        Raises:
            NotFound: there is no such message.
        """
        for seq in seqs:
            require_number(seq)
        return erasure.erase(self.state, self.id, set(seqs), **options)

    def pin(self, seq: int) -> None:
        """Keep a message in every window."""
        self._mark(seq, "pinned", 1)

    def unpin(self, seq: int) -> None:
        """Allow windows to drop a message again."""
        self._mark(seq, "pinned", 0)

    def _mark_visibility(self, seq: int, visibility: Visibility) -> bool:
        return self._mark(seq, "visibility", visibility)

    def _mark(self, seq: int, column: turns.Mark, value: Value) -> bool:
        require_number(seq)
        tenant, id = self.state.tenant, self.id
        return self.state.engine.write(
            lambda connection: turns.mark(connection, tenant, id, seq, column, value), id
        )

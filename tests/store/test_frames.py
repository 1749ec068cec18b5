"""The time of a conversation's newest question is found among its last messages."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import contextwright as cw
from contextwright.store.frames import newest_question_time

ASKED = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "found"),
    [(0, ASKED), (1, ASKED), (127, ASKED), (128, ASKED), (1_023, ASKED), (1_024, None)],
)
def test_a_question_is_found_among_the_last_thousand(
    after: int, found: datetime | None, tmp_path: Path
) -> None:
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        chat = store.conversation("a")
        chat.add([cw.user("Soup?", sent_at=ASKED), *[cw.assistant("I look.")] * after])
        assert newest_question_time(chat) == found
        assert newest_question_time(chat, 1) == ASKED

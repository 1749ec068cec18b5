"""Times at the ends of the calendar, which overflow when they are told in another time zone."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import contextwright as cw
from commands import Run
from contextwright.errors import UsageError
from contextwright.messages import read_time
from contextwright.messages.times import require_time
from contextwright.store import Store

ENDS = ("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "0001-01-01", "253402300799")
EAST, WEST = timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))


@pytest.mark.parametrize("spelling", ENDS)
def test_an_end_of_the_calendar_is_no_time(spelling: str, cw: Run, tmp_path: Path) -> None:
    assert read_time(spelling) is None
    store = ("--store", str(tmp_path / "chat.db"))
    message = {"role": "user", "content": "Hello", "timestamp": spelling}
    session = {"id": "s", "agent": "a", "messages": [message]}
    assert cw("import", "-", "--format", "port42", *store, input=session).code == 0
    for arguments in (
        ("list", *store),
        ("show", "s", *store),
        ("export", "s", "--format", "aya", *store),
        ("build", "s", "--recipe", "gryag", "--model", "gpt-4o", *store),
        ("recall", "Hello", "-c", "s", *store),
        ("erase", "--older-than", "1d", "--dry-run", *store),
    ):
        assert cw(*arguments).code in (0, 1), arguments


@pytest.mark.parametrize("now", [datetime.min, datetime.max, datetime.max.replace(tzinfo=WEST)])
def test_now_cannot_be_there(now: datetime, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at an end of the calendar"):
        cw.build([cw.user("Hello")], "gryag", model="gpt-4o", now=now)
    with Store(tmp_path / "chat.db", embedder=None) as store:
        chat = store.conversation("c")
        chat.add(cw.user("Hello"))
        with pytest.raises(UsageError, match="at an end of the calendar"):
            chat.recall("Hello", now=now)
        with pytest.raises(UsageError, match="at an end of the calendar"):
            store.erase_before(now)


def test_every_other_time_can_be_told_everywhere() -> None:
    for spelling in ("0001-01-03T00:00:00Z", "9999-12-28T23:59:59.999999+00:00"):
        moment = read_time(spelling)
        assert moment is not None
        assert require_time(moment) == moment
        assert {moment.astimezone(zone) for zone in (EAST, WEST, UTC)} == {moment}

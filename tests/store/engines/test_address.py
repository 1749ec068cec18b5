"""Where a store is: what a path or a URL means, and that no error shows a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run
from contextwright.errors import ContextwrightError
from contextwright.store.engines import postgres
from contextwright.store.engines.address import file_of, is_server, server_url, shown_address
from contextwright.store.store import Store

SECRET = "S3CRET"
WRONG = (
    f"postgresql+psycopg://u:{SECRET}@127.0.0.1:1/x",
    f"Postgresql://u:{SECRET}@127.0.0.1:1/x",
    f"POSTGRES://u:{SECRET}@127.0.0.1:1/x",
    f"postgresql:/u:{SECRET}@127.0.0.1:1/x",
    f"postgresql:u:{SECRET}@127.0.0.1:1/x",
    f"postgresql://u:{SECRET}@{SECRET}@127.0.0.1:1/x",
    f"postgresql://u:{SECRET}/{SECRET}@127.0.0.1:1/x",
    f"postgresql://u:pa:{SECRET}@127.0.0.1:1/x",
    f"postgresql://u@127.0.0.1:1/x?password={SECRET}&connect_timeout=x",
    f"postgresql//u:{SECRET}@127.0.0.1:1/x",
    f" postgresql://u:{SECRET}@127.0.0.1:1/x",
    f"postgres/u:{SECRET}@127.0.0.1:1/x",
    f"u:{SECRET}@127.0.0.1:1/x",
    f"mysql://u:{SECRET}@h/x",
    f"sqlite://u:{SECRET}@h://x",
    f"no/folder/host=h password={SECRET}",
)


@pytest.mark.parametrize("address", WRONG)
def test_no_error_shows_a_password(address: str, cw: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OPENING", 0.1)
    with pytest.raises(ContextwrightError) as caught:
        Store(address)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in f"{error!r} {error}"
        error = error.__cause__
    done = cw("list", "--store", address)
    assert done.code in (1, 2)
    assert SECRET not in done.out + done.err


def test_what_an_address_is(tmp_path: Path) -> None:
    assert [is_server(one) for one in ("postgresql://h/x", "Postgres://h", "postgres.db")] == [
        True,
        True,
        False,
    ]
    assert server_url("Postgresql+psycopg://u:p@h/x") == "postgresql://u:p@h/x"
    assert file_of("sqlite:///a.db") == "a.db"
    assert file_of("sqlite:////a.db") == "/a.db"
    assert shown_address("postgresql://u:p@h/x") == "'postgresql://…@h/x'"
    assert shown_address("host=h password='a b' x=1") == '"host=h password=… x=1"'.replace('"', "'")

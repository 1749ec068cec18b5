"""Recorded requests of real clients, in all three other APIs."""

from collections import Counter
from pathlib import Path

import pytest

from paths import benchmark

clients = benchmark("formats/clients")


@pytest.mark.parametrize("target", clients.FORMATS)
def test_everything_of_real_clients_arrives(target: str, data_folder: Path) -> None:
    for source, body in clients.requests(data_folder / "clients"):
        if source == target:
            continue
        row: Counter[str] = Counter()
        clients.measure(body, source, target, clients.converted, row)
        assert (row["tools"], row["effort"]) == (row["sent"], row["asked"])
        assert (row["output"], row["errors"], row["failed"]) == (row["wanted"], 0, 0)

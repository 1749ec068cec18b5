"""Real requests: those that the Responses API took, and those that it refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from contextwright import models
from contextwright.wire.openai_responses.rules import check


@pytest.fixture(scope="module")
def recorded(data_folder: Path) -> list[dict[str, Any]]:
    lines = (data_folder / "wire" / "requests.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["api"] == "openai.responses"]


def test_no_false_alarm(recorded: list[dict[str, Any]]) -> None:
    accepted = [row for row in recorded if row["status"] == 200]
    assert len(accepted) > 100
    alarms = [
        (row["source"], problem)
        for row in accepted
        for problem in check(row["request"], models.find(row["model"]))
        if problem.level == "error"
    ]
    assert alarms == []


def test_what_was_refused_is_found(recorded: list[dict[str, Any]]) -> None:
    codes = {
        "unsupported_file": "OR-file",
        "was provided without its required following item": "OR-reasoning-id",
    }
    refused = [row for row in recorded if row["status"] == 400]
    assert refused
    for row in refused:
        error = json.dumps(row["error"])
        expected = next(code for words, code in codes.items() if words in error)
        problems = check(row["request"], models.find(row["model"]))
        assert expected in [problem.code for problem in problems if problem.level == "error"]

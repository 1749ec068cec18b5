"""Real conversions that break others: each folder of `cases` with the whole expected output.

`WRITE_CASES=1 pytest tests/formats/test_cases.py` writes the outputs anew; read the difference.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from paths import CASES

FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())
MODELS = {
    "anthropic": "claude-opus-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.name)
def test_case(case: Path, target: str) -> None:
    given: dict[str, Any] = json.loads((case / "input.json").read_text())
    rendered = cw.convert(given["data"], given["format"], target, model=MODELS[target])
    problems = cw.check(rendered.payload, target, model=MODELS[target])
    assert [str(problem) for problem in problems if problem.level == "error"] == []
    output = {"payload": rendered.payload, "changes": [str(change) for change in rendered.changes]}
    expected = case / f"{target}.json"
    if os.environ.get("WRITE_CASES"):
        expected.write_text(json.dumps(output, ensure_ascii=False, indent=1) + "\n")
    assert output == json.loads(expected.read_text())

"""Without its packages, `cw batch` says what to install."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
sys.modules[{package!r}] = None
from contextwright.cli import main
sys.exit(main(["batch", "convert", "x.jsonl", "--to", "aya", "-o", "out", *{options!r}]))
"""
WITHOUT_EXTRAS = """
import sys
packages = "aiohttp cloudpickle daft mcp numpy prompt_toolkit psycopg pyarrow ray starlette uvicorn"
sys.modules |= dict.fromkeys(packages.split())
from contextwright.cli import main
from contextwright.cli.commands import GROUPS
names = [name for group in GROUPS.values() for name in group]
print([name for name in names if main([name, "--help"])], file=sys.stderr)
"""


def test_the_help_of_every_command_needs_no_extra() -> None:
    script = [sys.executable, "-c", WITHOUT_EXTRAS]
    assert subprocess.run(script, capture_output=True, text=True).stderr == "[]\n"


@pytest.mark.parametrize(
    ("package", "options", "extra"),
    [
        ("pyarrow", [], "batch"),
        ("cloudpickle", ["-j", "2"], "batch"),
        ("ray", ["--runner", "ray"], "ray"),
    ],
)
def test_a_missing_package_is_named(
    package: str, options: list[str], extra: str, tmp_path: object
) -> None:
    rows = 200_000 if package == "cloudpickle" else 1  # two pieces, which two workers share
    with open(f"{tmp_path}/x.jsonl", "wb") as file:
        file.write(b'{"messages":[]}\n' * rows)
    script = SCRIPT.format(package=package, options=options)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=str(tmp_path)
    )
    assert done.returncode == 1
    assert f"pip install 'contextwright[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1

"""The README cannot lie: its examples run here, and what it prints is what they print.

`python tests/test_readme.py` writes the outputs anew; read the difference.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from contextwright.recall import ranking, signals

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL)
SESSION = re.compile(r"```console\n(?P<session>.*?)```\n", re.DOTALL)
WEIGHTS = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([-.\d]*) ?\| ([-.\d]*) ?\|$", re.MULTILINE)
COMMANDS = re.compile(r"^pip install uv && .*?(?=  |$)", re.MULTILINE)


def with_real_outputs(text: str) -> str:
    """The README with every output as it is now."""
    names: dict[str, object] = {}  # one example goes on where the last one ended

    def run_example(match: re.Match[str]) -> str:
        with (
            TemporaryDirectory() as folder,
            chdir(folder),
            redirect_stdout(io.StringIO()) as output,
        ):
            exec(match["code"], names)
        return f"```python\n{match['code']}```\n\n```text\n{output.getvalue()}```\n"

    def run_session(match: re.Match[str]) -> str:
        commands = [line for line in match["session"].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{run(line[2:])}" for line in commands) + "```\n"

    return SESSION.sub(run_session, EXAMPLE.sub(run_example, text))


def run(command: str) -> str:
    """What a person sees who types the command in the checkout."""
    name, *arguments = shlex.split(command)
    assert name == "cw"
    done = subprocess.run(
        [sys.executable, "-m", "contextwright", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.decode()


def test_examples_print_what_the_readme_says() -> None:
    text = README.read_text("utf-8")
    assert len(EXAMPLE.findall(text)) == 4
    assert text == with_real_outputs(text)


def test_the_first_example_is_a_file_that_runs() -> None:
    first = EXAMPLE.search(README.read_text("utf-8"))
    assert first is not None
    assert first["code"] == (ROOT / "examples" / "first.py").read_text("utf-8")


def test_the_documented_weights_are_those_in_use() -> None:
    rows = WEIGHTS.findall((ROOT / "docs" / "recall.md").read_text("utf-8"))
    documented = {name: (alone, meaning) for name, alone, meaning in rows}
    both = (ranking.WORDS_ALONE, ranking.WITH_MEANING)
    expected = {
        name: tuple(shown_weight(getattr(weights.signals, name)) for weights in both)
        for name in signals.Signals._fields
    }
    expected["base"] = tuple(shown_weight(weights.bias) for weights in both)
    assert documented == expected


def shown_weight(weight: float) -> str:
    return f"{weight:.2f}" if weight else ""


def test_ci_runs_the_commands_of_the_readme() -> None:
    commands = COMMANDS.findall(README.read_text("utf-8"))
    assert len(commands) == 2
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if line in commands] == commands


if __name__ == "__main__":
    README.write_text(with_real_outputs(README.read_text("utf-8")), "utf-8")

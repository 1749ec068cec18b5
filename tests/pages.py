"""Pages whose examples run: every output in them is what the code prints.

`python tests/pages.py` rewrites the outputs; read the difference.
"""

import io
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from tempfile import TemporaryDirectory

from paths import DOCS, ROOT

README = ROOT / "README.md"
RUN = {
    README: 4,
    DOCS / "contexts.md": 1,
    DOCS / "counting.md": 2,
    DOCS / "formats.md": 1,
    DOCS / "memories.md": 2,
    DOCS / "sections.md": 1,
    DOCS / "store.md": 1,
    DOCS / "summaries.md": 1,
    DOCS / "vectors.md": 1,
    DOCS / "windows.md": 2,
}
"""Pages, and how many examples with an output each has."""
EXAMPLE = re.compile(
    r"```python\n(?P<code>(?:(?!```).)*)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL
)


SESSION = re.compile(r"```console\n(?P<session>.*?)```\n", re.DOTALL)


def with_real_outputs(text: str) -> str:
    """A page with every output as it is now."""
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


if __name__ == "__main__":
    for page in RUN:
        page.write_text(with_real_outputs(page.read_text("utf-8")), "utf-8")

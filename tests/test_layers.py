"""Imports go one way, nothing heavy is loaded, and the public names are what they say."""

import ast
import subprocess
import sys
from pathlib import Path

import contextwright

SOURCE = Path(contextwright.__file__).parent

LAYERS = (
    ("errors", "graphemes", "terminal", "terms"),
    ("changes", "messages", "faults", "quoting", "shortening"),
    ("memories", "metadata"),
    ("recall",),
    ("summaries",),
    ("agents", "documents", "models", "exchanges", "counters", "images", "fading", "groups"),
    ("prices",),
    ("history",),
    ("decisions",),
    ("wire", "windows", "sections"),
    ("shares", "thinking"),
    ("media", "tariffs", "typescript"),
    ("tokens",),
    ("formats",),
    ("api",),
    ("context", "explaining"),
    ("caching", "metering"),
    ("attempts", "building", "omissions", "recipe"),
    ("store",),
    ("importers", "recipes"),
    ("builder", "memory", "sessions", "simulation", "summarisers", "systems"),
    ("display",),
    ("cli", "__main__", "__init__"),
)
"""Each layer knows only those before it (and itself)."""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

HEAVY = (
    "splintr",
    "rich",
    "typer",
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
    "apsw",
    "psycopg",
    "sqlite3",
)


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports, by their first name below the package."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "contextwright"
        ):
            steps = node.module.split(".")[1:]
            found.update([steps[0]] if steps else [alias.name for alias in node.names])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found.update(name[1] for name in names if name[0] == "contextwright" and len(name) > 1)
    return found


def test_imports_go_one_way() -> None:
    wrong: list[str] = []
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        layer = place.parts[0].removesuffix(".py")
        for name in imported(path):
            known = "errors" if name == "TYPE_CHECKING" else name
            if known in LEVEL and LEVEL[known] > LEVEL[layer]:
                wrong.append(f"{place} imports {name}")
    # The error that carries a payload's problems names their type; nothing runs of it.
    assert wrong == ["errors.py imports wire"]


def test_every_module_has_a_layer() -> None:
    modules = {
        path.name.removesuffix(".py")
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or path.is_dir()
    }
    assert modules - set(LEVEL) - {"data", "__pycache__", "py.typed"} == set()


def test_import_loads_nothing_heavy() -> None:
    script = (
        f"import sys, contextwright; print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_public_names_are_sorted_and_exist() -> None:
    assert contextwright.__all__ == sorted(contextwright.__all__)
    assert all(hasattr(contextwright, name) for name in contextwright.__all__)


def test_every_code_is_documented() -> None:
    """Whoever meets a code can look it up."""
    rules = (SOURCE.parents[1] / "docs" / "rules.md").read_text()
    codes = {
        node.args[0].value
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
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

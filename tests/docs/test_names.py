"""The public names: few, listed, loaded on first use, and the same for type checkers."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import msgspec
import pytest

import contextwright as cw
from contextwright.context.omission import OmissionNote
from contextwright.sections import BuiltIn

MODULES = (
    "ask",
    "batch",
    "errors",
    "importers",
    "messages",
    "providers",
    "recall",
    "sections",
    "store",
    "streams",
    "summaries",
    "systems",
    "tokens",
    "windows",
)
PAYLOADS = ("wire", "integrations")
"""What is read into shapes of providers, and what needs frameworks of others."""
GROWING = {
    "Answer",
    "Columns",
    "CopyResult",
    "Element",
    "Erased",
    "IndexResult",
    "Level",
    "Line",
    "Matching",
    "Metrics",
    "Outcome",
    "Page",
    "Pairs",
    "Reading",
    "Report",
    "Sent",
    "Sum",
}
"""What is filled in while something is read or done."""
SHAPES = {
    "BatchRequest",
    "CustomFields",
    "Entry",
    "History",
    "NoStrictness",
    "Payload",
    "RecipeFile",
    "RequestBody",
    "WrittenSummary",
}
"""What data of others are read into, to see whether they fit."""
WRITTEN = [
    cw.Author,
    cw.Conversation,
    cw.Media,
    cw.Memory,
    cw.Message,
    cw.Opaque,
    cw.Settings,
    cw.Text,
    cw.Thinking,
    cw.Tool,
    cw.ToolCall,
    cw.ToolResult,
    cw.messages.Reply,
    cw.recall.Ranking,
    cw.windows.Clearing,
    cw.windows.FirstAndRecent,
    cw.windows.KeepAll,
    cw.windows.KeepRecent,
    cw.windows.Layers,
    cw.windows.Stepped,
    OmissionNote,
    *BuiltIn.__args__,
]
"""What files and stores hold."""
LAZY = ("contextwright", "contextwright.batch", "contextwright.recall", "contextwright.store")


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    cw.convert({"messages": []}, "openai-chat", "anthropic")  # loads modules of its own
    names = vars(cw)["__all__"]
    assert dir(cw) == sorted([*names, *MODULES])
    assert 45 <= len(names) <= 55


@pytest.mark.parametrize("name", ["contextwright", *(f"contextwright.{m}" for m in MODULES)])
def test_public_modules_list_names_that_exist(name: str) -> None:
    module = import_module(name)
    names = [n for n in module.__all__ if not n.startswith("__")]
    assert names
    assert names == sorted(names)
    assert all(hasattr(module, name) for name in names)
    assert set(names) <= {*dir(module)}


@pytest.mark.parametrize("name", LAZY)
def test_type_checkers_see_what_programs_see(name: str) -> None:
    """A lazy package lists its names twice: once to run, once for type checkers."""
    module = import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    [branch] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname: (node.module, alias.name)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert sorted(seen) == dir(module)
    for public, (home, name_there) in seen.items():
        assert public == name_there
        assert getattr(module, public) is getattr(import_module(str(home)), public)


def test_values_never_change() -> None:
    """Whoever holds a message, a recipe or a receipt may rely on it."""
    for found in walk_packages(cw.__path__, "contextwright."):
        if found.name.split(".")[1] not in (*PAYLOADS, "__main__"):
            import_module(found.name)
    open = {one.__name__ for one in below(msgspec.Struct) if not one.__struct_config__.frozen}
    assert open == GROWING | SHAPES


def below(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """The kinds of values that modules name, but not the shapes of payloads."""
    for inner in kind.__subclasses__():
        home = inner.__module__.split(".")
        if home[0] == "contextwright" and home[1] not in PAYLOADS:
            if getattr(import_module(inner.__module__), inner.__name__, None) is inner:
                yield inner
        yield from below(inner)


@pytest.mark.parametrize("value", WRITTEN)
def test_what_is_written_is_strict_and_says_no_more_than_it_must(
    value: type[msgspec.Struct],
) -> None:
    config = value.__struct_config__
    assert (config.forbid_unknown_fields, config.omit_defaults) == (True, True)


def test_submodules_load_when_they_are_used() -> None:
    script = (
        "import sys, contextwright as cw\n"
        "print([name for name in sys.modules if name.startswith('contextwright.')])\n"
        "print(cw.windows.KeepRecent(messages=3), 'contextwright.store' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout == "['contextwright.lazy']\nKeepRecent(messages=3, whole_turns=False) False\n"
    )


@pytest.mark.parametrize("module", [cw, cw.recall, cw.store])
def test_an_unknown_name_is_an_attribute_error(module: object) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'KeepRecnt'"):
        module.KeepRecnt  # noqa: B018  # pyright: ignore


def test_the_version_is_that_of_the_project() -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert cw.__version__ == tomllib.loads(project.read_text("utf-8"))["project"]["version"]


def test_build_is_the_recipes_own() -> None:
    recipe = cw.Recipe(system=["You plan lunches."], budget=900)
    chat = [cw.user("Soup?")]
    built = cw.build(chat, recipe, model="gpt-4o", format="anthropic", budget=800)
    own = recipe.build(chat, model="gpt-4o", format="anthropic", budget=800)
    assert (built.payload, built.explain()) == (own.payload, own.explain())
    assert built.ledger.budget == 800

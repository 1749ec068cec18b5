"""The reference of Python and the command line, docs/reference/, made from the code.

`python tests/reference.py` writes the pages anew; tests/docs/test_reference.py holds them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from click import Context

import contextwright
from contextwright.cli import commands
from contextwright.cli.app import app
from paths import DOCS
from source import SOURCE

FOLDER = DOCS / "reference"
MODULES = sorted(set(dir(contextwright)) - set(vars(contextwright)["__all__"]))
SYSTEMS = ("aya", "context_builder", "forge", "gryag", "port42")
INNER = ("Struct", "Checked")
"""Bases that say nothing to users."""
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
INTEGRATIONS = (
    "claude_agent",
    "google_adk",
    "langchain",
    "langgraph",
    "llama_index",
    "mcp",
    "openai_agents",
    "pydantic_ai",
)


def pages() -> dict[Path, str]:
    """All pages as they should be."""
    named = {f"contextwright.{name}": f"{name}.md" for name in MODULES}
    named["contextwright"] = "contextwright.md"
    found = {FOLDER / file: module_page(module) for module, file in named.items()}
    found[FOLDER / "systems.md"] += "".join(
        inner_page(f"contextwright.systems.{name}") for name in SYSTEMS
    )
    found[FOLDER / "integrations.md"] = integrations_page()
    found[FOLDER / "cli.md"] = command_page()
    return found


# --- Python ----------------------------------------------------------------------------------


def module_page(name: str) -> str:
    """A module's own words, then each of its names."""
    module = importlib.import_module(name)
    parts = [f"# {name}", inspect.getdoc(module) or ""]
    parts += [entry(name, each) for each in public_names(name)]
    return "\n\n".join(part for part in parts if part) + "\n"


def inner_page(name: str) -> str:
    """A module as a chapter of another's page."""
    module = importlib.import_module(name)
    parts = [f"\n## {name}", inspect.getdoc(module) or ""]
    parts += [entry(name, each, 3) for each in public_names(name)]
    return "\n\n".join(part for part in parts if part) + "\n"


def integrations_page() -> str:
    """The integrations, from their source: not every framework is installed."""
    parts = ["# contextwright.integrations", "[How to use them](../integrations.md)."]
    for name in INTEGRATIONS:
        tree = tree_of(f"contextwright.integrations.{name}")
        words = (ast.get_docstring(tree) or "").partition("\n\n")[0]
        parts += [f"## contextwright.integrations.{name}", words]
        for each in exported(tree):
            parts.append(described(f"contextwright.integrations.{name}", definition(tree, each), 3))
    return "\n\n".join(parts) + "\n"


def exported(tree: ast.Module) -> list[str]:
    """The names in `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def public_names(module: str) -> list[str]:
    """The names of a module but for modules, functions first: a reader begins with those."""
    found = importlib.import_module(module)
    names = [
        name
        for name in getattr(found, "__all__", dir(found))
        if not name.startswith("_") and not inspect.ismodule(getattr(found, name))
    ]
    return sorted(names, key=lambda name: (name[0].isupper(), name))


def entry(module: str, name: str, level: int = 2) -> str:
    """One name: where it is described, or its description."""
    if module != "contextwright" and name in public_names("contextwright"):
        top = getattr(contextwright, name)
        if top is getattr(importlib.import_module(module), name):
            return f"{'#' * level} {name}\n\nSee [contextwright.{name}](contextwright.md)."
    place, node = source_of(module, name)
    return described(place, node, level) if node else f"{'#' * level} {name}"


def source_of(module: str, name: str) -> tuple[str, ast.stmt | None]:
    """The definition of a name, and the module it is in: this one, or where it has it from."""
    if not module.startswith("contextwright"):
        return module, None
    tree = tree_of(module)
    found = definition(tree, name)
    if found is not None:
        return module, found
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return source_of(node.module, alias.name)
    return module, None


@cache
def tree_of(module: str) -> ast.Module:
    """The source of a module, which is not imported: not every framework is installed."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8"))


def definition(tree: ast.Module, name: str) -> ast.stmt | None:
    """The statement that defines a name at the top of a module, with its docstring after it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            if "overload" not in [ast.unparse(each) for each in node.decorator_list]:
                return node
        if isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                return node
    return None


def described(module: str, node: ast.stmt | None, level: int) -> str:
    """A heading, the signature and the docstring; of a class also its fields and methods."""
    head = f"{'#' * level} {name_of(node)}"
    if isinstance(node, ast.FunctionDef):
        parts = [head, code(signature(node)), docstring(node), options(module, node)]
        return "\n\n".join(part for part in parts if part)
    if isinstance(node, ast.ClassDef):
        family = [(module, node), *inner_bases(module, node)]
        rows = "\n".join(row for _, each in reversed(family) if (row := fields(each)))
        found = [text for place, each in family for text in methods(place, each, node, level)]
        parts = [head, code(class_line(module, node)), docstring(node), rows, *found]
        return "\n\n".join(part for part in parts if part)
    return f"{head}\n\n{code(ast.unparse(node))}" if node is not None else head


def name_of(node: ast.stmt | None) -> str:
    """The name that a statement defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return node.name
    assert isinstance(node, ast.AnnAssign | ast.Assign)
    return ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A function's line; an argument on each line if it is long."""
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    given = arguments(node.args)
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{start} {node.name}({', '.join(given)}){returned}"
    if len(line) <= 96:
        return line
    lines = "".join(f"    {each},\n" for each in given)
    return f"{start} {node.name}(\n{lines}){returned}"


def arguments(node: ast.arguments) -> list[str]:
    """The arguments of a function as one writes them, without `self` and `cls`."""
    placed = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(placed) - len(node.defaults)) + node.defaults
    found = [argument(each, default) for each, default in zip(placed, defaults, strict=True)]
    if placed and placed[0].arg in ("self", "cls"):
        del found[0]
    if node.vararg is not None:
        found.append(f"*{ast.unparse(node.vararg)}")
    elif node.kwonlyargs:
        found.append("*")
    named = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    found += [argument(each, default) for each, default in named]
    return [*found, f"**{ast.unparse(node.kwarg)}"] if node.kwarg is not None else found


def argument(node: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(node) + (f" = {ast.unparse(default)}" if default is not None else "")


def options(module: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What `**options` may be, unless the docstring or a page of its own says so."""
    kind = node.args.kwarg and node.args.kwarg.annotation
    words = ast.get_docstring(node) or ""
    if not isinstance(kind, ast.Subscript) or "Args:" in words or " see " in words:
        return ""
    _, fields_of = source_of(module, ast.unparse(kind.slice))
    if not isinstance(fields_of, ast.ClassDef) or is_public(fields_of.name):
        return ""
    return f"Options:\n\n{fields(fields_of)}"


def inner_bases(module: str, node: ast.ClassDef) -> list[tuple[str, ast.ClassDef]]:
    """The bases that no page describes: what they have belongs to the class itself."""
    found: list[tuple[str, ast.ClassDef]] = []
    for base in node.bases:
        place, each = source_of(module, ast.unparse(base))
        if isinstance(each, ast.ClassDef) and not is_public(each.name):
            found += [(place, each), *inner_bases(place, each)]
    return found


@cache
def is_public(name: str) -> bool:
    """Whether a page describes a name."""
    modules = ("contextwright", *(f"contextwright.{module}" for module in MODULES))
    return any(name in public_names(module) for module in modules)


def class_line(module: str, node: ast.ClassDef) -> str:
    inner = {*INNER, *(each.name for _, each in inner_bases(module, node))}
    bases = [ast.unparse(base) for base in node.bases if ast.unparse(base) not in inner]
    return f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"


def fields(node: ast.ClassDef) -> str:
    """The public fields of a class, with what is said about each."""
    rows: list[str] = []
    body = node.body
    for at, each in enumerate(body):
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        if each.target.id.startswith("_"):
            continue
        following = body[at + 1] if at + 1 < len(body) else None
        said = string_of(following)
        default = f" = {ast.unparse(each.value)}" if each.value is not None else ""
        line = f"- `{each.target.id}: {ast.unparse(each.annotation)}{default}`"
        rows.append(f"{line}: {' '.join(said.split())}" if said else line)
    return "\n".join(rows)


def string_of(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else ""
    return ""


def methods(module: str, node: ast.ClassDef, owner: ast.ClassDef, level: int) -> Iterator[str]:
    """The public methods and properties of a class, or of a base of it, and how it is made."""
    own = {each.name for each in owner.body if isinstance(each, FUNCTION)}
    for each in node.body:
        if not isinstance(each, FUNCTION):
            continue
        if node is not owner and (each.name in own or each.name.startswith("_")):
            continue
        kinds = [ast.unparse(one) for one in each.decorator_list]
        made = each.name == "__init__" and len(each.args.args) + len(each.args.kwonlyargs) > 1
        if (each.name.startswith("_") and not made) or "overload" in kinds:
            continue
        title = node.name if made else each.name
        text = docstring(each)
        if "property" in kinds:
            returned = ast.unparse(each.returns) if each.returns else ""
            yield f"{'#' * (level + 1)} {title}\n\n`{returned}`: {text}".rstrip(": ")
        else:
            parts = [f"{'#' * (level + 1)} {title}", code(signature(each)), text]
            yield "\n\n".join(part for part in (*parts, options(module, each)) if part)


def docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A docstring as Markdown: lists below `Args:` and `Raises:`."""
    text = ast.get_docstring(node) or ""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.strip() in ("Args:", "Raises:"):
            inside = True
            lines.append(f"{line.strip()}\n")
        elif inside and line.startswith("    ") and not line.startswith("     "):
            name, _, words = line.strip().partition(":")
            lines.append(f"- `{name}`:{words}")
        elif inside and line.startswith("     "):
            lines[-1] += f" {line.strip()}"
        else:
            inside = inside and not line
            lines.append(line)
    return "\n".join(lines)


def code(text: str) -> str:
    return f"```python\n{text}\n```"


# --- the command line ------------------------------------------------------------------------


def command_page() -> str:
    """Every command with its arguments and options, by task."""
    parts = [
        "# The command line",
        "`cw` and `contextwright` are the same command. `-` is standard input. Results go to"
        " standard output, everything else to standard error. Exit code 1 means that a problem was"
        " found, 2 that the call is wrong.",
    ]
    for title, names in commands.GROUPS.items():
        parts.append(f"## {title}")
        parts += [command_entry(name, app.get_command(None, name)) for name in names]
    return "\n\n".join(parts) + "\n"


def command_entry(name: str, command: Any) -> str:
    """A command: its words, then a row for each argument and option."""
    shown = Context(command, terminal_width=10_000, max_content_width=10_000)
    rows = [row_of(each, shown) for each in command.params if each.name != "help"]
    words = [paragraph(each) for each in inspect.cleandoc(command.help or "").split("\n\n")]
    table = "\n".join(["| | |", "|---|---|", *rows]) if rows else ""
    return "\n\n".join(part for part in (f"### cw {name}", *words, table) if part)


def paragraph(text: str) -> str:
    """A paragraph of a command's help; examples are code."""
    if text.startswith("\b"):
        return f"```sh\n{text.removeprefix(chr(8)).strip()}\n```"
    return escaped(text)


def row_of(parameter: Any, context: Context) -> str:
    """An argument or an option, with its meaning, its default and its limits, as in the help."""
    if parameter.param_type_name == "argument":
        names = (parameter.metavar or parameter.name.upper()).strip("[]").split("|")
        shown = " or ".join(f"`{name}`" for name in names)  # a bar would end the cell
    else:
        shown = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    _, words = parameter.get_help_record(context)
    words = " ".join(words.replace("|", "\\|").split())
    return f"| {shown} | {escaped(words)} |"


def escaped(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, "utf-8")

"""The package's own source: where it is, and which module imports which."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import contextwright

SOURCE = Path(contextwright.__file__).parent


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, without a look into expressions, which have none."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements(child)


@cache
def imports() -> dict[str, set[str]]:
    """The modules of ours that each module imports, type-checking imports included."""
    files = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path
        for path in SOURCE.rglob("*.py")
    }
    paths = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        graph[module] = set()
        for node in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module in paths:
                for alias in node.names:
                    name = f"{node.module}.{alias.name}"
                    graph[module].add(name if name in paths else node.module)
    return graph

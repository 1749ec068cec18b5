"""Limits on the size of files, functions and folders."""

import ast
from collections import Counter

from paths import TESTS
from source import SOURCE, statements

FILES = sorted([*SOURCE.rglob("*.py"), *TESTS.rglob("*.py")])
MAX_FILE_LINES, MAX_FUNCTION_LINES = 420, 65
MAX_FOLDER_FILES, MAX_TEST_FOLDER_FILES = 15, 18


def test_files_are_short() -> None:
    lengths = {path: path.read_text("utf-8").count("\n") for path in FILES}
    assert [path for path, lines in lengths.items() if lines > MAX_FILE_LINES] == []


def test_functions_are_short() -> None:
    long = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in FILES
        for node in statements(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_folders_are_small() -> None:
    folders = Counter(path.parent for path in FILES)
    limits = {
        folder: MAX_TEST_FOLDER_FILES if folder.is_relative_to(TESTS) else MAX_FOLDER_FILES
        for folder in folders
    }
    assert [folder for folder, files in folders.items() if files > limits[folder]] == []

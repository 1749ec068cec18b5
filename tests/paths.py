"""Where things are in the repository."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parent
CASES = TESTS / "cases"
GOLDEN = TESTS / "golden"
ROOT = TESTS.parent
BENCHMARKS = ROOT / "benchmarks"
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"


def benchmark(path: str) -> ModuleType:
    """A script of `benchmarks/`, such as `storage/scope`, as a module."""
    name = path.rpartition("/")[2]
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{path}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its records look up their own module
    spec.loader.exec_module(module)
    return module

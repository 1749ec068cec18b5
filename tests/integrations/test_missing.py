"""Without its framework, an integration says what to install."""

import importlib
import sys

import pytest

from contextwright.errors import ContextwrightError

FRAMEWORKS = {
    "google_adk": "google",
    "langchain": "langchain_core",
    "llama_index": "llama_index",
    "mcp": "mcp",
    "pydantic_ai": "pydantic_ai",
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in list(sys.modules):
        if module == FRAMEWORKS[name] or module.startswith(f"{FRAMEWORKS[name]}."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, FRAMEWORKS[name], None)
    monkeypatch.delitem(sys.modules, f"contextwright.integrations.{name}", raising=False)
    with pytest.raises(ContextwrightError, match=name.replace("_", "-")):
        importlib.import_module(f"contextwright.integrations.{name}")

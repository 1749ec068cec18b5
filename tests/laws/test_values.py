"""Values: frozen, and strict about their fields where files and stores hold them."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import msgspec
import pytest

import contextwright as cw
from contextwright.context.omission import OmissionNote
from contextwright.sections import BuiltIn

FOLDERS = "text messages tokens windows recall sections summaries context formats".split()
GROWING = {
    "Answer",
    "CustomFields",
    "Element",
    "Entry",
    "History",
    "Lines",
    "Matching",
    "NoStrictness",
    "Page",
    "Pairs",
    "Payload",
    "RecipeFile",
    "Sum",
    "WrittenSummary",
}
"""What is filled while it is made, and shapes that are only read into."""
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


def structs(parent: type = msgspec.Struct) -> Iterator[type[msgspec.Struct]]:
    """All structs there are by now."""
    for child in parent.__subclasses__():
        yield child
        yield from structs(child)


@pytest.mark.parametrize("folder", FOLDERS)
def test_values_are_frozen(folder: str) -> None:
    package = import_module(f"contextwright.{folder}")
    names = {found.name for found in walk_packages(package.__path__, f"{package.__name__}.")}
    for name in names:
        import_module(name)
    found = [struct for struct in structs() if struct.__module__ in names]
    changing = {struct.__name__ for struct in found if not struct.__struct_config__.frozen}
    assert changing <= GROWING


@pytest.mark.parametrize("value", WRITTEN)
def test_what_is_written_is_strict_and_says_no_more_than_it_must(
    value: type[msgspec.Struct],
) -> None:
    config = value.__struct_config__
    assert (config.forbid_unknown_fields, config.omit_defaults) == (True, True)

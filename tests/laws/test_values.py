"""Values that files and stores hold: strict about their fields."""

import msgspec
import pytest

import contextwright as cw
from contextwright.context.omission import OmissionNote
from contextwright.sections import BuiltIn

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


@pytest.mark.parametrize("value", WRITTEN)
def test_what_is_written_is_strict_and_says_no_more_than_it_must(
    value: type[msgspec.Struct],
) -> None:
    config = value.__struct_config__
    assert (config.forbid_unknown_fields, config.omit_defaults) == (True, True)

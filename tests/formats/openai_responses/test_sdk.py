"""OpenAI's SDK knows every item that is written for Responses."""

from typing import Any, Required, get_args, get_origin, get_type_hints

from hypothesis import given
from openai.types.responses import response_input_item_param

import contextwright as cw
from samples.responses import (
    MODEL,
    NAME,
)
from strategies.messages import conversations


@given(conversations)
def test_the_sdk_knows_every_item_we_write(conversation: cw.Conversation) -> None:
    """Items have the fields the SDK demands and none that it does not know."""
    for item in cw.render(conversation, NAME, model=MODEL).payload["input"]:
        kind = SDK_ITEMS[item.get("type", "message")]
        hints = get_type_hints(kind, include_extras=True)
        assert set(item) <= set(hints)
        assert {key for key, hint in hints.items() if get_origin(hint) is Required} <= set(item)


def sdk_items() -> dict[str, Any]:
    """The kinds of items we write for histories of others, by their type."""
    items: dict[str, Any] = {"message": response_input_item_param.EasyInputMessageParam}
    for kind in get_args(response_input_item_param.ResponseInputItemParam):
        (name,) = get_args(get_args(get_type_hints(kind, include_extras=True)["type"])[0]) or ("",)
        if name in ("function_call", "function_call_output"):
            items[name] = kind
    return items


SDK_ITEMS = sdk_items()

"""Python functions as tools: their schemas, their arguments, and the results of calls."""

import asyncio
import enum
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

import contextwright as cw
from contextwright.ask import tool_from
from contextwright.ask.calls import Running
from contextwright.ask.functions import Toolbox
from contextwright.errors import UsageError
from contextwright.text.json import PREPARED

OBJECT = {"type": "object", "additionalProperties": False}


def plain(city: str, days: int = 3) -> str:
    """The weather of a city.

    For a few days ahead.

    Args:
        city: Where, as people
            write it.
        days (int): How many days.

    Returns:
        Words.
    """
    return f"{city} {days}"


def sphinx(city: str, unit: Literal["c", "f"] = "c") -> str:
    """The weather.

    :param city: Where.
    :param str unit: Celsius or
        Fahrenheit.
    :return: Words.
    """
    return city + unit


def numpy(city: str, days: int) -> str:
    """The weather.

    Parameters
    ----------
    city : str
        Where.
    days : int
        How many.

    Returns
    -------
    str
    """
    return city * days


class Unit(enum.Enum):
    METRE = "m"
    FOOT = "ft"


@dataclass
class Place:
    name: str
    height: float | None = None


def nested(
    places: list[Place], unit: Unit = Unit.METRE, *, note: Annotated[str, "Why."] = ""
) -> Any:
    """Heights."""
    return [{"name": place.name, "unit": unit.value, "note": note} for place in places]


async def later(seconds: float) -> float:
    """Wait."""
    await asyncio.sleep(seconds)
    return seconds


def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("function", "described", "schema"),
    [
        (
            plain,
            "The weather of a city.\n\nFor a few days ahead.",
            {
                "properties": {
                    "city": {"type": "string", "description": "Where, as people write it."},
                    "days": {"type": "integer", "description": "How many days.", "default": 3},
                },
                "required": ["city"],
            },
        ),
        (
            sphinx,
            "The weather.",
            {
                "properties": {
                    "city": {"type": "string", "description": "Where."},
                    "unit": {
                        "enum": ["c", "f"],
                        "description": "Celsius or Fahrenheit.",
                        "default": "c",
                    },
                },
                "required": ["city"],
            },
        ),
        (
            numpy,
            "The weather.",
            {
                "properties": {
                    "city": {"type": "string", "description": "Where."},
                    "days": {"type": "integer", "description": "How many."},
                },
                "required": ["city", "days"],
            },
        ),
        (
            nested,
            "Heights.",
            {
                "properties": {
                    "places": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
                    "unit": {"$ref": "#/$defs/Unit"},
                    "note": {"type": "string", "description": "Why.", "default": ""},
                },
                "required": ["places"],
                "$defs": {
                    "Place": {
                        "title": "Place",
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "height": {
                                "anyOf": [{"type": "number"}, {"type": "null"}],
                                "default": None,
                            },
                        },
                        "required": ["name"],
                    },
                    "Unit": {"title": "Unit", "enum": ["ft", "m"]},
                },
            },
        ),
        (nothing, None, {"properties": {}, "required": []}),
    ],
)
def test_schemas(function: Any, described: str | None, schema: dict[str, Any]) -> None:
    tool = tool_from(function).tool
    assert tool == cw.Tool(function.__name__, described, {**OBJECT, **schema})


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_every_provider_takes_the_schemas(format: str) -> None:
    tools = Toolbox.of([plain, sphinx, numpy, nested, later, nothing]).tools
    conversation = cw.Conversation((cw.user("Hi"),), tools)
    model = {"anthropic": "claude-sonnet-5-5", "gemini": "gemini-3.8-flash"}.get(format)
    payload = cw.render(conversation, format, model=model or "gpt-5.6-sol").payload
    assert cw.check(payload, format, model=model or "gpt-5.6-sol") == []


def odd_names(__init__: int, __struct_fields__: str = "", self: int = 0) -> list[Any]:
    return [__init__, __struct_fields__, self]


def test_a_parameter_may_have_any_name() -> None:
    assert results(
        [odd_names],
        ("odd_names", {"__init__": "1", "__struct_fields__": "x", "self": 2}),
        ("odd_names", {"__init__": 1}),
        ("odd_names", {"argument_0": 1}),
    ) == [
        ('[1,"x",2]', False),
        ('[1,"",0]', False),
        ("the arguments do not fit: Object contains unknown field `argument_0`", True),
    ]


class Robot:
    def greet(self, name: str) -> str:
        """Say hello."""
        return f"Hello {name}"


def variadic(*words: str) -> str:
    return " ".join(words)


def strange(value: "Missing") -> str:  # pyright: ignore  # noqa: F821
    return str(value)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (variadic, "cannot be filled in by name"),
        (strange, "cannot be a tool"),
        (lambda: 1, "cannot be a tool's name"),
        ("weather", "a tool cannot be 'weather'"),
    ],
)
def test_what_cannot_be_a_tool(function: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        tool_from(function)


def results(functions: list[Any], *calls: tuple[str, dict[str, Any]], seconds: float = 20) -> Any:
    async def run() -> list[cw.ToolResult]:
        made = [cw.ToolCall(name, given, f"c{n}") for n, (name, given) in enumerate(calls)]
        running = Running(made, Toolbox.of(functions).functions, seconds)
        finished = [index async for index, _ in running.finished()]
        assert sorted(finished) == list(range(len(calls)))
        return running.results()

    return [(one.content, one.is_error) for one in asyncio.run(run())]


def picture() -> list[cw.Media | cw.Text]:
    return [cw.Text("See:"), cw.Media("image", "image/png", "iVBORw0KGgo=")]


def wrong(kind: str) -> object:
    match kind:
        case "error":
            raise ValueError("no such thing")
        case "exit":
            raise SystemExit(3)
        case "object":
            return object()
        case _:
            return {1: Place("x"), "y": {2}}


def test_results() -> None:
    picked = tuple(picture())
    assert results(
        [plain, nested, picture, wrong, nothing, Robot().greet, later],
        ("plain", {"city": "Kyiv", "days": "2"}),
        ("plain", {"city": 7}),
        ("plain", {"town": "Kyiv"}),
        ("nested", {"places": [{"name": "Hoverla"}], "unit": "ft"}),
        ("picture", {}),
        ("wrong", {"kind": "error"}),
        ("wrong", {"kind": "exit"}),
        ("wrong", {"kind": "object"}),
        ("wrong", {"kind": ""}),
        ("nothing", {}),
        ("greet", {"name": "Ann"}),
        ("later", {"seconds": 0}),
        ("missing", {}),
    ) == [
        ("Kyiv 2", False),
        ("the arguments do not fit: Expected `str`, got `int` - at `$.city`", True),
        ("the arguments do not fit: Object contains unknown field `town`", True),
        ('[{"name":"Hoverla","unit":"ft","note":""}]', False),
        (picked, False),
        ("ValueError: no such thing", True),
        ("RuntimeError: SystemExit", True),
        (
            "the result is not JSON: TypeError: 'Encoding objects of type object is unsupported'",
            True,
        ),
        ({"1": {"name": "x", "height": None}, "y": [2]}, False),
        ("", False),
        ("Hello Ann", False),
        ("0.0", False),
        ("there is no tool 'missing'", True),
    ]


def test_calls_run_at_once() -> None:
    """Each waits for the other: one after the other would never end."""
    both = threading.Barrier(2)

    def meet() -> int:
        both.wait(20)
        return 1

    assert results([meet], ("meet", {}), ("meet", {})) == [("1", False), ("1", False)]


def test_a_function_has_a_time_limit() -> None:
    go = threading.Event()

    def hang() -> None:
        go.wait(20)

    async def hang_too() -> None:
        await asyncio.Event().wait()

    late = ("no result within 0.01 seconds", True)
    assert results([hang, hang_too], ("hang", {}), ("hang_too", {}), seconds=0.01) == [late, late]
    go.set()


def test_tools_are_not_kept_once_they_are_not_used() -> None:
    def add(first: int) -> int:
        return first

    known = len(PREPARED)
    assert [tool_from(add).read({"first": "1"}) for _ in range(3)] == [{"first": 1}] * 3
    assert len(PREPARED) == known

"""A history's running totals, and what fades in it."""

from hypothesis import given

import contextwright as cw
from contextwright.history import Fading, History
from test_windows import PICTURE, fadings, histories, price


@given(histories, fadings)
def test_totals_are_the_sum_of_what_is_shown(messages: list[cw.Message], fading: Fading) -> None:
    history = History(messages, price=price, fading=fading)
    seen = history.seen()
    running = settled = 0
    for place, message in enumerate(messages):
        assert history.before(place, seen) == running
        assert history.settled(place) >= settled
        settled = history.settled(place)
        public = message.visibility == "public"
        assert history.cost(place, seen) == (price(history.at(place)) if public else 0)
        running += history.cost(place, seen)
    assert history.total == running
    if all(message.visibility == "public" for message in messages):
        assert history.settled(len(messages)) <= history.total
    for count in range(len(messages) + 1):
        alone = History(messages[:count], price=price, fading=fading)
        assert alone.settled(count) == history.settled(count)  # it never changes


@given(histories, fadings)
def test_fading_leaves_everything_but_results_and_media(
    messages: list[cw.Message], fading: Fading
) -> None:
    history = History(messages, price=price, fading=fading)
    for place, message in enumerate(messages):
        shown = history.at(place)
        assert shown.calls == message.calls
        assert len(shown.parts) == len(message.parts)
        assert price(shown) <= price(message)
        seen = history.seen()
        if message.pinned or place in (seen.question, seen.asked) or not fading.is_on:
            assert shown == message
        for before, after in zip(message.results, shown.results, strict=True):
            assert (before.call_id, before.name) == (after.call_id, after.name)


@given(histories, fadings)
def test_fading_only_ever_moves_on(messages: list[cw.Message], fading: Fading) -> None:
    history = History(price=price, fading=fading)
    results = media = 0
    for count, message in enumerate(messages, 1):
        history.append(message)
        seen = history.seen()
        assert seen == History(messages[:count], price=price, fading=fading).seen()
        assert (seen.results, seen.media) >= (results, media)
        assert seen.results >= results
        assert seen.media >= media
        results, media = seen.results, seen.media
    for count in range(len(messages) + 1):
        alone = History(messages[:count], price=price, fading=fading)
        assert history.seen(count) == alone.seen()


def exchange(number: int, size: int = 90, calls: int = 1) -> list[cw.Message]:
    ids = [f"{number}{letter}" for letter in "abc"[:calls]]
    return [
        cw.assistant([cw.ToolCall("look" if number % 2 else "search", {}, id) for id in ids]),
        *(cw.tool_result(id, "r" * size) for id in ids),
    ]


def shown(messages: list[cw.Message], fading: Fading) -> list[str]:
    history = History(messages, price=price, fading=fading)
    results = (result for place in range(len(history)) for result in history.at(place).results)
    return ["whole" if result.text.startswith("r") else result.text for result in results]


STUB = "[result cleared: 90 characters]"


def test_old_results_become_stubs_in_steps() -> None:
    fading = Fading(results=2, step=4)
    messages = [cw.user("go")]
    cleared: list[int] = []
    for number in range(8):
        messages += exchange(number)
        cleared.append(shown(messages, fading).count(STUB))
    assert cleared == [0, 0, 1, 1, 3, 3, 5, 5]
    assert shown(messages, fading) == [STUB] * 5 + ["whole"] * 3


def test_parallel_results_are_one_exchange() -> None:
    messages = [message for number in range(3) for message in exchange(number, calls=3)]
    assert shown(messages, Fading(results=1, step=1)) == [STUB] * 6 + ["whole"] * 3


def test_the_newest_exchange_never_fades() -> None:
    assert shown([*exchange(0), *exchange(1)], Fading(results=0, step=1)) == [STUB, "whole"]


def test_spared_tools_are_known_by_their_calls() -> None:
    """A result seldom says which tool it came from: its call does."""
    messages = [message for number in range(4) for message in exchange(number)]
    fading = Fading(results=1, step=1, spare=("look",))
    assert shown(messages, fading) == [STUB, "whole", STUB, "whole"]


def test_a_result_that_a_stub_would_not_make_cheaper_stays() -> None:
    messages = [*exchange(0, size=5), *exchange(1, size=90), *exchange(2)]
    assert shown(messages, Fading(results=1, step=1)) == ["whole", STUB, "whole"]


def test_media_become_markers_but_never_those_of_the_question() -> None:
    messages = [cw.user(["see", PICTURE]), cw.assistant("so?"), cw.user(["and", PICTURE])]
    for number in range(3):
        id = str(number)
        messages.append(cw.assistant(cw.ToolCall("screenshot", {}, id)))
        messages.append(cw.tool_result(id, [cw.Text("done"), PICTURE]))
    history = History(messages, price=price, fading=Fading(media=1, step=1))
    marker = cw.Text("[media: image/png]")
    assert history.at(0) == cw.user(["see", marker])
    assert history.at(2) == messages[2]
    assert history.at(4) == cw.tool_result("0", [cw.Text("done"), marker])
    assert history.at(6) == cw.tool_result("1", [cw.Text("done"), marker])
    assert history.at(8) == messages[8]


def test_no_request_holds_more_media_than_the_provider_takes() -> None:
    history = History(price=price, fading=Fading(most_media=5, step=2))
    left: list[int] = []
    for _ in range(9):
        history.extend([cw.assistant([PICTURE, PICTURE]), cw.user("and?")])
        shown = (history.at(place) for place in range(len(history)))
        left.append(sum(type(part) is cw.Media for message in shown for part in message.parts))
    assert max(left) <= 5
    assert left == [2, 4, 4, 4, 4, 4, 4, 4, 4]


def test_results_and_media_of_one_message_are_not_saved_twice() -> None:
    messages = [
        cw.assistant(cw.ToolCall("screenshot", {}, "a")),
        cw.tool_result("a", [cw.Text("done" * 20), PICTURE]),
        *exchange(1),
        cw.user([PICTURE]),
        cw.assistant("ok"),
    ]
    history = History(messages, price=price, fading=Fading(results=1, media=1, step=1))
    assert history.at(1) == cw.tool_result("a", "[result cleared: 80 characters]")
    assert history.total == sum(price(history.at(place)) for place in range(len(messages)))

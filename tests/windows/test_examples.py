"""Windows on given histories: the tables of the five systems, and single rules."""

from collections.abc import Callable

import msgspec
import pytest

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.history import History
from contextwright.windows.log import Log
from contextwright.windows.policies import (
    FirstAndRecent,
    KeepAll,
    KeepRecent,
    Layers,
    Stepped,
    Window,
)
from samples.windows import cost, decided
from strategies.windows import PICTURE, price

# --- examples --------------------------------------------------------------------------------


def talk(count: int) -> list[cw.Message]:
    """A user and an assistant in turns, ten tokens each, the last word the user's."""
    speakers: list[Callable[[str], cw.Message]] = [cw.user, cw.assistant]
    return [
        speakers[(count - 1 - number) % 2](f"m{number + 1}".ljust(9)) for number in range(count)
    ]


def kept_of(messages: list[cw.Message], window: Window, limit: int = 10**9) -> list[int]:
    return list(decided(messages, window, limit).kept())


@pytest.mark.parametrize(("most", "gap"), [(1, 48), (2, 48), (3, 48), (4, 48), (5, 48), (6, 47)])
def test_p42_8_the_note_comes_before_a_question_that_stays(most: int, gap: int) -> None:
    """The last of 50 messages is an answer: its question stays, before the newest that fit."""
    messages = [cw.user("question"), cw.assistant("answer")] * 25
    assert decided(messages, FirstAndRecent(most)).gap == gap


@pytest.mark.parametrize(
    ("total", "sent", "told", "told_by_port42"),
    [
        (20, 20, 0, 0),
        (21, 19, 2, 1),
        (29, 19, 10, 9),
        (30, 19, 11, 10),
        (31, 19, 12, 11),
        (100, 19, 81, 80),
    ],
    ids=lambda value: str(value),
)
def test_p42_3_to_6_the_table(total: int, sent: int, told: int, told_by_port42: int) -> None:
    """Where more than 10 are left out, the note is one message more: 31 and 100 send 20."""
    decisions = decided(talk(total), FirstAndRecent())
    kept = list(decisions.kept())
    assert kept == ([0, 1] + list(range(total - 17, total)) if total > 20 else list(range(20)))
    assert len(kept) == sent
    assert decisions.omitted == told
    assert decisions.gap == (total - 17 if total > 20 else None)
    for note, number in (
        (cw.OmissionNote("{omitted}"), told),
        (cw.OmissionNote("{omitted}", count_beyond=20), told_by_port42),
    ):
        message = note.message(decisions.omitted, total)
        assert (message.text if message else "0") == str(number)


@pytest.mark.parametrize(
    ("total", "said", "said_by_port42"),
    [
        (20, None, None),
        (21, None, None),
        (29, None, None),
        (30, 11, None),
        (31, 12, 11),
        (100, 81, 80),
    ],
)
def test_p42_7_and_8_the_note_in_the_request(
    total: int, said: int | None, said_by_port42: int | None
) -> None:
    ours = recipes.find("port42")
    assert ours.note is not None
    counted = msgspec.structs.replace(ours.note, count_beyond=20)
    exact = msgspec.structs.replace(ours, note=counted)
    for recipe, omitted in ((ours, said), (exact, said_by_port42)):
        context = recipe.build(talk(total), model="claude-sonnet-4-5")
        sent = str(context.payload["messages"])
        note = f"[Session context: {omitted} messages omitted...]"
        assert (note in sent) if omitted else ("Session context" not in sent)
        assert not cw.check(context.payload, "anthropic")


@pytest.mark.parametrize(
    ("window", "kept"),
    [
        pytest.param(FirstAndRecent(40), [0, 1, *range(63, 100)], id="P42-5 max 40: 2 + 37"),
        pytest.param(FirstAndRecent(4), [0, 1, 99], id="P42-5b max 4"),
        pytest.param(FirstAndRecent(3), [0, 99], id="P42-5b max 3: the head shrinks first"),
        pytest.param(FirstAndRecent(2), [99], id="P42-5b max 2"),
        pytest.param(FirstAndRecent(1), [99], id="P42-5b max 1"),
        pytest.param(FirstAndRecent(0), [99], id="P42-5b max 0"),
        pytest.param(FirstAndRecent(20, 0), list(range(81, 100)), id="no head"),
        pytest.param(KeepRecent(), list(range(100)), id="everything fits"),
        pytest.param(KeepRecent(3), [97, 98, 99], id="three"),
        pytest.param(KeepRecent(0), [99], id="the newest question stays"),
        pytest.param(KeepAll(), list(range(100)), id="all"),
        pytest.param(Stepped(0.5, 10), list(range(92, 100)), id="ten, in steps"),
    ],
)
def test_windows_of_a_hundred(window: Window, kept: list[int]) -> None:
    assert kept_of(talk(100), window) == kept


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (10_000, list(range(20))),
        (200, list(range(20))),
        (199, [0, 1, *range(3, 20)]),
        (60, [0, 1, *range(16, 20)]),
        (30, [0, 1, 19]),
        (29, [0, 19]),
        (19, [19]),
        (0, [19]),
    ],
)
def test_p42_5b_within_tokens_the_head_gives_way_before_the_question(
    limit: int, kept: list[int]
) -> None:
    assert kept_of(talk(20), FirstAndRecent(), limit) == kept


def test_p42_9_a_head_that_ends_inside_an_exchange_leaves_it_out() -> None:
    call = [cw.assistant(cw.ToolCall("t", {}, "a")), cw.tool_result("a", "r")]
    messages = [cw.user("hi"), *call, *talk(30)]
    assert kept_of(messages, FirstAndRecent()) == [0, *range(16, 33)]
    assert kept_of(messages, FirstAndRecent(first=3)) == [0, 1, 2, *range(17, 33)]


def test_p42_9_the_recent_part_does_not_begin_with_a_result() -> None:
    call = [cw.assistant(cw.ToolCall("t", {}, "a")), cw.tool_result("a", "r")]
    messages = [*talk(10), *call, *talk(16)]
    kept = kept_of(messages, FirstAndRecent())
    assert kept == [0, 1, *range(12, 28)]


def test_gry_33_layers_hold_each_message_once_and_in_order() -> None:
    decisions = decided(talk(40), Layers(), 10**9)
    assert list(decisions.kept()) == list(range(10, 40))
    assert [(run.start, run.stop, run.reason) for run in decisions.runs] == [
        (0, 10, "older than both layers"),
        (10, 35, "recent layer"),
        (35, 40, "immediate layer"),
    ]


def test_gry_34_over_budget_the_oldest_go() -> None:
    assert kept_of(talk(40), Layers(), 100) == list(range(30, 40))


def test_gry_39_the_current_message_is_there_once() -> None:
    messages = talk(40)
    decisions = decided(messages, Layers(), 55)
    sent = decisions.messages()
    assert sent.count(messages[-1]) == 1
    assert sent[-1] == messages[-1]


def test_gry_40_what_is_hidden_never_stays_and_takes_no_place() -> None:
    messages = talk(40)
    for place, visibility in ((39, "hidden"), (38, "internal"), (20, "deleted")):
        gone = cw.Message("user", (cw.Text("no"),), visibility=visibility, pinned=True)  # pyright: ignore
        messages.insert(place, gone)
    decisions = decided([cw.system("be kind"), *messages], Layers(), skip_system=True)
    kept = [message.text.strip() for message in decisions.messages()]
    assert kept == [f"m{number}" for number in range(11, 41)]
    assert decisions[0].reason == "system messages of the history are left out"
    assert decisions.omitted == 10


def test_cb_10_a_window_never_starts_with_a_result() -> None:
    turn = [
        cw.user("u" * 9),
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.tool_result("a", "r" * 9),
        cw.assistant("a" * 9),
    ]
    messages = [*turn, *turn, cw.user("q" * 9)]
    for limit in range(200):
        kept = kept_of(messages, KeepRecent(), limit)
        assert not messages[kept[0]].results
        assert kept[-1] == 8


@pytest.mark.parametrize(
    ("limit", "kept"), [(60, [0, 4, 5, 6, 7]), (36, [0, 6, 7]), (0, [0, 6, 7])]
)
def test_in_a_tool_loop_question_and_unfinished_exchange_stay(limit: int, kept: list[int]) -> None:
    messages = [cw.user("q" * 9)]
    for number in range(2):
        calls = [cw.ToolCall("t", {}, f"{number}a"), cw.ToolCall("t", {}, f"{number}b")]
        messages += [cw.assistant(calls), cw.tool_result(f"{number}b", "r" * 9)]
        messages += [cw.tool_result(f"{number}a", "r" * 9)]
    messages.pop()  # the last result is still missing
    messages.insert(4, cw.assistant("a" * 9))
    messages.insert(4, cw.user("q" * 9, visibility="hidden"))
    assert kept_of(messages, KeepRecent(), limit) == [place for place in kept if place != 4]


def test_words_beside_results_do_not_push_out_the_question() -> None:
    """Some harnesses put a reminder into every message with results."""
    messages = [cw.user("q" * 9)]
    for number in range(5):
        messages.append(cw.assistant(cw.ToolCall("t", {}, f"{number}")))
        reminded = [cw.ToolResult(f"{number}", "r" * 9), cw.Text("go on")]
        messages.append(cw.Message("user", tuple(reminded)))
    assert kept_of(messages, KeepRecent(), 0) == [0, 9, 10]
    messages.append(cw.assistant("done"))
    assert kept_of(messages, KeepRecent(), 0) == [0, 9, 10, 11]


def test_a_doubled_result_at_the_end_does_not_end_the_exchange() -> None:
    answer = cw.tool_result("a", "r" * 9)
    messages = [cw.user("q"), cw.assistant(cw.ToolCall("t", {}, "a")), answer, answer]
    assert kept_of([cw.user("old"), *messages], KeepRecent(), 0) == [1, 2, 3, 4]


def test_a_result_far_behind_its_call_keeps_it_while_it_is_the_newest() -> None:
    messages = [cw.assistant(cw.ToolCall("t", {}, "a")), *talk(20), cw.tool_result("a", "late")]
    assert kept_of(messages, KeepRecent(), 28) == [0, 20, 21]
    assert kept_of([*messages, cw.user("thanks")], KeepRecent(), 30) == [19, 20, 22]


def test_pins_and_system_messages_stay_where_they_are() -> None:
    messages = talk(20)
    messages[3] = cw.user("pinned".ljust(9), pinned=True)
    messages.insert(10, cw.system("rule".ljust(9)))
    messages[6:6] = [
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.tool_result("a", "r" * 9, pinned=True),
    ]
    decisions = decided(messages, KeepRecent(2), 10**9)
    assert [(one.index, one.reason) for one in decisions if one.action == "kept"] == [
        (3, "pinned"),
        (6, "belongs to an exchange that stays"),
        (7, "pinned"),
        (12, "system"),
        (21, "recent"),
        (22, "recent"),
    ]
    # What stays anyway is paid for before anything else.
    assert kept_of(messages, KeepRecent(), 54) == [3, 6, 7, 12, 21, 22]
    assert kept_of(messages, KeepRecent(), 53) == [3, 6, 7, 12, 22]


def test_keep_recent_fills_the_limit_to_the_token() -> None:
    for limit in range(10, 210):
        assert len(kept_of(talk(20), KeepRecent(), limit)) == min(limit // 10, 20)


def cuts_of(messages: list[cw.Message], window: Window, limit: int) -> list[int]:
    """Where the window begins after each message."""
    history = History(price=price)
    cuts: list[int] = []
    for message in messages:
        history.append(message)
        cuts.append(decide(window, history.view(), limit).cut)
    return cuts


def test_the_stepped_cut_stays_put_for_a_whole_step() -> None:
    """Of twenty messages that fit, eight may be left out: a cut at every eighth."""
    cuts = cuts_of(talk(60), Stepped(0.4), 200)
    assert cuts == [0] * 20 + [8] * 8 + [16] * 8 + [24] * 8 + [32] * 8 + [40] * 8


def test_a_limit_in_messages_moves_in_steps_too() -> None:
    cuts = cuts_of(talk(30), Stepped(0.5, 10), 10**6)
    assert cuts[:10] == [0] * 10
    assert len(set(cuts)) <= 8
    assert all(count - 10 <= cut <= count - 5 for count, cut in enumerate(cuts[10:], 11))


def test_an_exchange_wider_than_a_step_is_kept_where_it_fits() -> None:
    """A large result does not take everything before it along."""
    messages = [cw.user("do it")]
    for number in range(9):
        messages += [
            cw.assistant(cw.ToolCall("read", {}, str(number))),
            cw.tool_result(str(number), "r" * (500 if number % 3 == 0 else 20)),
        ]
        for limit in (600, 700, 1_100):
            kept = decided(messages, Stepped(), limit)
            assert cost(kept) >= 0.4 * cost(decided(messages, KeepRecent(), limit))


def test_the_task_of_an_agent_stays() -> None:
    messages = [cw.system("be brief"), cw.user("build the house")]
    for number in range(40):
        messages += [
            cw.assistant(cw.ToolCall("lay", {}, str(number))),
            cw.tool_result(str(number), "brick " * 5),
        ]
    messages += [cw.assistant("the wall stands"), cw.user("go on"), cw.assistant("yes")]
    decisions = decided(messages, Stepped(), 400)
    assert (decisions[1].action, decisions[1].reason) == ("kept", "task")
    assert decisions.omitted > 40
    assert decided(messages, Stepped(task=False), 400)[1].action == "dropped"
    # A chat without tools has no task, and one that fills the window is no task to keep.
    assert decided(talk(60), Stepped(), 200)[0].action == "dropped"
    messages[1] = cw.user("build the house " * 20)
    assert decided(messages, Stepped(), 400)[1].action == "dropped"


def test_what_an_answered_question_frees_does_not_bring_older_messages_back() -> None:
    """The old question outside the window took room; once it is answered, the cut stays."""
    loop = [cw.user("Q" * 50)]
    for number in range(20):
        loop += [
            cw.assistant(cw.ToolCall("t", {}, f"{number}")),
            cw.tool_result(f"{number}", "r" * 15),
        ]
    before = decided(loop, Stepped(0.4, task=False), 250)
    assert before[0].action == "kept"
    after = decided([*loop, cw.user("next")], Stepped(0.4, task=False), 250)
    assert after.cut == before.cut
    assert after[0].action == "dropped"
    assert decided([*loop, cw.user("next")], KeepRecent(), 250).cut < before.cut


def test_a_cap_on_media_clears_the_oldest_first() -> None:
    pictures = [cw.user([cw.Text(str(number)), PICTURE]) for number in range(12)]
    decisions = decided(pictures, KeepAll(), 10**6, Clearing(most_media=4))
    cleared = [one.index for one in decisions if one.action == "cleared"]
    assert cleared in (list(range(8)), list(range(9)))


def test_a_cap_on_media_spares_a_pinned_picture() -> None:
    pictures = [cw.user([cw.Text(str(number)), PICTURE]) for number in range(12)]
    pictures[0] = cw.user(["the plan", PICTURE], pinned=True)
    for most, left in ((4, [0, 10, 11]), (1, [0, 11])):
        decisions = decided(pictures, KeepAll(), 10**6, Clearing(most_media=most))
        assert [one.index for one in decisions if one.action == "kept"] == left


@pytest.mark.parametrize("step", [0, 1])
def test_clearing_keeps_the_newest_results_and_moves_in_steps(step: int) -> None:
    history = History(price=price, clearing=Clearing(results=4, step=step))
    lines: list[int] = []
    for number in range(40):
        history.append(cw.assistant(cw.ToolCall("t", {}, str(number))))
        history.append(cw.tool_result(str(number), "r" * 90))
        view = history.view()
        kept = [index for index in range(1, len(history), 2) if not view.is_cleared(index)]
        assert kept == list(range(1, len(history), 2))[-len(kept) :]
        assert min(4, number + 1) <= len(kept) <= 4 * (1 + step)
        lines.append(view.lines.end)
    assert lines == sorted(lines)
    assert len(set(lines)) <= (40 if step == 0 else 16)


class Watched(Log):
    """A log that counts how often one of its messages is looked at."""

    looked = 0

    def __getitem__(self, index: int) -> cw.Message:
        self.looked += 1
        return super().__getitem__(index)


@pytest.mark.parametrize(
    "window", [KeepRecent(), Stepped(), FirstAndRecent(200), Layers(5, 200), KeepRecent(100)]
)
def test_old_messages_are_not_looked_at(window: Window) -> None:
    looked: list[int] = []
    for turns in (100, 4_000):
        messages: list[cw.Message] = []
        for number in range(turns):
            hidden = cw.user("no", visibility="hidden")
            id = str(number)
            call, result = cw.assistant(cw.ToolCall("t", {}, id)), cw.tool_result(id, "r" * 90)
            messages += [cw.user("u" * 30), call, hidden, result, cw.assistant("a" * 30)]
        log = Watched(messages)
        decisions = decided(log, window, 1_000, Clearing(results=8))
        assert len(list(decisions.kept())) < 110
        assert decisions.gap is not None
        assert decisions.is_changed
        looked.append(log.looked)
    assert looked[1] <= looked[0] * 1.2


def test_a_note_stands_before_exchanges_that_overlap() -> None:
    """The exchange of the last result begins within another one: the note goes before both."""
    messages = [
        *(cw.user("before") for _ in range(3)),
        cw.assistant(cw.ToolCall("t", {}, "a")),
        cw.assistant(cw.ToolCall("t", {}, "b")),
        msgspec.structs.replace(cw.tool_result("a", "A"), pinned=True),
        cw.user("between"),
        msgspec.structs.replace(cw.tool_result("b", "B"), pinned=True),
        cw.user("now"),
    ]
    decisions = decided(messages, KeepRecent(messages=3), 10**9)
    assert (list(decisions.kept()), decisions.gap) == ([3, 4, 5, 6, 7, 8], 3)

"""Signatures come back in their own conversation, and behind their own prefix if that matters."""

from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.serve.history.vault import History, Vault
from serve.history.test_vault import TALKS, THINKING, begin, end, history_of, restored


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cw.Store]:
    with cw.Store(tmp_path_factory.mktemp("vault") / "store.db", sync="fast") as store:
        yield store


@pytest.mark.parametrize("restarts", [False, True])
def test_calls_of_one_id_in_two_talks_are_kept_apart(store: cw.Store, restarts: bool) -> None:
    """Some hosts count the calls of each conversation."""
    vault, call = Vault(), cw.ToolCall("ls", {"path": "."}, "ls:0")
    talks = [cw.user(f"Talk {next(TALKS)}") for _ in range(2)]
    told = [cw.assistant([replace(THINKING, text=talk.text), call]) for talk in talks]
    for talk, answer in zip(talks, told, strict=True):
        before = history_of(talk)
        end(store, begin(store, before), vault.keep(before, answer))
    for talk, answer in zip(talks, told, strict=True):
        if restarts:
            vault = Vault(store)
        back = history_of(talk, cw.assistant(call), cw.tool_result("ls:0", "a.txt"))
        assert restored(vault, back).messages[1] == answer


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(
    ("model", "is_bound"), [("claude-sonnet-5-5", True), ("claude-sonnet-4-5", False)]
)
def test_thinking_that_is_bound_to_its_prefix_comes_back_only_behind_it(
    store: cw.Store, model: str, is_bound: bool, restarts: bool
) -> None:
    """Claude refuses it behind another system text, other tools or an edited question."""
    vault, question = Vault(), cw.user(f"Talk {next(TALKS)}")
    call = cw.ToolCall("ls", {}, f"call_{next(TALKS)}")
    answer = cw.assistant([replace(THINKING, origin="anthropic"), call])
    brief, run = cw.system("Be brief."), cw.Tool("run", "Run it.", {"type": "object"})

    def history(*messages: cw.Message, tools: Sequence[cw.Tool] = ()) -> History:
        return history_of(*messages, format="anthropic", model=model, tools=tools)

    def comes_back(system: cw.Message, question: cw.Message, tools: Sequence[cw.Tool] = ()) -> bool:
        rest = (cw.assistant(call), cw.tool_result(call.id or "", "a.txt"))
        asked = Vault(store) if restarts else vault
        whole = restored(asked, history(system, question, *rest, tools=tools))
        return whole.messages[2] == answer

    before = history(brief, question)
    end(store, begin(store, before), vault.keep(before, answer))
    assert comes_back(brief, question)
    assert comes_back(cw.system("It is noon."), question) is not is_bound
    assert comes_back(brief, cw.user("Edited.")) is not is_bound
    assert comes_back(brief, question, [run]) is not is_bound
    assert comes_back(brief, question)


def test_another_answer_in_its_place_gets_nothing() -> None:
    vault, question = Vault(), cw.user("Hello")
    vault.keep(history_of(question), cw.assistant([THINKING, "Yes."]))
    other = history_of(question, cw.assistant("No."), cw.user("Why?"))
    assert restored(vault, other) == other.said


def test_of_two_answers_in_one_place_each_gets_its_own(store: cw.Store) -> None:
    """A client may go back to a branch that it left."""
    opening = [cw.user(f"Talk {next(TALKS)}")]
    before = history_of(*opening)
    told = [cw.assistant([THINKING, "Yes."]), cw.assistant([replace(THINKING, text="Oh."), "No."])]
    for answer in told:
        end(store, begin(store, before), Vault().keep(before, answer))
    vault = Vault(store)
    for answer in (*told, told[0]):
        back = history_of(*opening, cw.assistant(answer.text))
        assert restored(vault, back).messages == (*opening, answer)


@pytest.mark.parametrize("silent", [cw.Opaque("openai-responses", {}), cw.Thinking("Hm.")])
def test_an_answer_without_words_is_not_waited_for(
    store: cw.Store, silent: cw.Opaque | cw.Thinking
) -> None:
    """Its place is that of the request it stands in, which nobody has answered yet."""
    history = history_of(cw.user(f"Talk {next(TALKS)}"), cw.assistant([silent]), format="gemini")
    begin(store, history)
    assert list(history.gaps()) == []
    assert restored(Vault(store), history) == history.said

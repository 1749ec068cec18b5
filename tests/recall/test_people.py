"""Speech through tools, topics, names, and events in recall."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import contextwright as cw
from contextwright import sections
from contextwright.recall.episodes.episode import find_episodes
from contextwright.recall.memories import MIN_CONFIDENCE
from contextwright.recall.questions import parse_question, with_asker
from contextwright.systems import aya

NOW = datetime(2026, 1, 9, tzinfo=UTC)
ALICE, BOB = cw.Author("U1", "Alice", "alice"), cw.Author("U2", "Bob", "bob")
MODEL = "claude-sonnet-5-5"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[cw.Store]:
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        yield store


def at(minute: int) -> str:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)).isoformat()


def posted(minute: int, text: str) -> list[cw.Message]:
    call = cw.ToolCall("postMessage", {"text": text}, id=f"c{minute}")
    return [cw.assistant(call, sent_at=at(minute)), cw.tool_result(f"c{minute}", "ok")]


# --- a bot that speaks through a tool ------------------------------------------------------------


def test_a_reply_tool_is_speech_everywhere(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    for minute in range(0, 12, 2):
        chat.add(cw.user(f"Lunch idea {minute}?", author=ALICE, sent_at=at(minute)))
        chat.add(posted(minute + 1, f"Mushroom risotto, number {minute}"))
    assert {hit.seq for hit in chat.search("risotto")} == {2, 5, 8, 11, 14, 17}
    assert "2026-01-01, assistant: Mushroom risotto, number 0" in chat.recall("Which risotto?").text
    chat.make_episodes(now=NOW)
    (episode,) = chat.episodes()
    assert "risotto" in f"{episode.memory.key} {episode.memory.text}"
    digest = cw.Recipe(summary=cw.SummaryPolicy(), window=cw.windows.KeepRecent(messages=2))
    context = chat.context(digest, model=MODEL, tools=[cw.Tool("postMessage")])
    assert "assistant: Mushroom risotto" in str(context.payload)


def test_other_reply_tools_come_with_the_conversation(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    said = cw.assistant(cw.ToolCall("say", {"words": "quesadilla"}, id="c1"))
    chat.add(cw.Conversation((cw.user("Lunch?"), said), reply_tools={"say": "words"}))
    assert [hit.seq for hit in chat.search("quesadilla")] == [2]
    chat.add(said)
    assert [hit.seq for hit in chat.search("quesadilla")] == [2]
    assert aya.REPLY_TOOLS["postMessage"] == "text"


# --- titles and names ----------------------------------------------------------------------------


def test_what_is_recalled_has_titles_and_names_not_ids(store: cw.Store) -> None:
    chat = store.conversation("-100200")
    chat.add([cw.user("The passport is in the red drawer", author=ALICE, sent_at=at(0))])
    store.remember("Keeps the passport at home", about="U1", at=at(9))
    known = "2026-01-01, about Alice: Keeps the passport at home\n"
    said = "Alice: The passport is in the red drawer"
    assert chat.recall("Where is the passport?").text == f"{known}2026-01-01, {said}"
    assert store.recall("Where is the passport?").text == f"{known}2026-01-01, -100200, {said}"
    chat.update(title="Family")
    assert store.recall("Where is the passport?").text == f"{known}2026-01-01, Family, {said}"
    chat.add([cw.user(f"Filler {n}", author=BOB) for n in range(40)])
    chat.add(cw.user("Where is the passport?", author=ALICE))
    recipe = cw.Recipe(
        system=[sections.PastMessages(), sections.PastExcerpts()],
        window=cw.windows.KeepRecent(messages=2),
    )
    recalled, excerpts = chat.context(recipe, model=MODEL).sections.values()
    assert recalled.splitlines()[1:3] == ["2026-01-01", said]
    assert excerpts.splitlines()[1].endswith(f"] 2026-01-01, {said}")
    chat.update(title=None)
    assert "-100200" not in str(chat.context(recipe, model=MODEL).sections)


# --- who asks ------------------------------------------------------------------------------------


def recalled_for(chat: cw.Chat, asker: cw.Author, question: str) -> str:
    """What the section recalls for a question, in room for little more than a line."""
    child = chat.fork(f"{chat.id}-{asker.id}-{question}")
    child.add(cw.user(question, author=asker, sent_at=at(99)))
    recipe = cw.Recipe(
        system=[sections.PastMessages(tokens=24)], window=cw.windows.KeepRecent(messages=1)
    )
    return "\n".join(child.context(recipe, model="gpt-4o").sections.values())


@pytest.mark.parametrize("question", ["When does my train leave?", "Wann fährt mein train?"])
def test_among_several_people_i_is_who_asks(store: cw.Store, question: str) -> None:
    chat = store.conversation("trip")
    for minute, author in enumerate((ALICE, BOB)):
        chat.add(cw.user(f"My train leaves at 7:{minute + 10}", author=author, sent_at=at(minute)))
    chat.add([cw.user(f"Filler {n}", author=BOB, sent_at=at(40)) for n in range(40)])
    for author, time, other in ((ALICE, "7:10", "7:11"), (BOB, "7:11", "7:10")):
        recalled = recalled_for(chat, author, question)
        assert f"{author.name}: My train leaves at {time}" in recalled
        assert other not in recalled


@pytest.mark.parametrize(
    "text",
    [
        "When is my train?",
        "What did Alice do with my ticket?",
        "Де мій квиток?",
        "Wo habe ich geparkt?",
        "我的票在哪里？",
    ],
)
def test_a_question_about_who_asks(text: str) -> None:
    people = {("Alice", "U1"), ("Bob", "U2"), ("", "")}
    question = parse_question(text, {"Alice", "Bob"})
    assert with_asker(question, "U1", people).askers == {"Alice"}
    alone = with_asker(question, "U1", {("Alice", "U1"), ("", "")})
    assert alone == question == with_asker(question, "U3", people)
    assert question.is_about_asker
    assert not question.askers


@pytest.mark.parametrize(
    "text",
    [
        "When is our train?",
        "What did we tell my boss?",
        "我们的票在哪里？",
        "When is the train?",
        "Tell me when the train leaves",
        "Нагадай мені, коли потяг",
        "What did Bob give to my sister?",
        "What did I and Alice tell Bob?",
    ],
)
def test_a_question_that_is_not_about_who_asks_alone(text: str) -> None:
    people = {("Alice", "U1"), ("Bob", "U2")}
    question = parse_question(text, {"Alice", "Bob"})
    assert with_asker(question, "U1", people) == question


def test_who_asks_says_nothing_about_the_confidence(store: cw.Store) -> None:
    """What somebody wants to know about themselves may be what another has said."""
    chat = store.conversation("trip")
    chat.add(cw.user("The concert begins at eight in the old harbour", author=BOB))
    chat.add([cw.user(f"Filler {n}", author=ALICE) for n in range(40)])
    chat.add(cw.user("When do I have to be at the concert in the harbour?", author=ALICE))
    recipe = cw.Recipe(system=[sections.PastMessages()], window=cw.windows.KeepRecent(messages=1))
    context = chat.context(recipe, model="gpt-4o")
    assert "Bob: The concert begins at eight" in context.sections["PastMessages[0]"]


# --- memories ------------------------------------------------------------------------------------


def test_a_memory_can_be_updated(store: cw.Store) -> None:
    id = store.remember("Kyiv", about="U1", kind="fact", key="location", at=at(0))
    assert store.update_memory(id, text="Lviv", at=at(5)).text == "Lviv"
    assert store.update_memory(id, weight=0.5, at=at(6)).text == "Lviv"
    (stored,) = store.memories()
    assert (stored.id, stored.memory.text, stored.memory.weight) == (id, "Lviv", 0.5)
    with pytest.raises(cw.errors.NotFound, match="there is no memory 'x'"):
        store.update_memory("x", text="Lviv")
    with pytest.raises(cw.errors.NotFound):
        store.for_tenant("acme").update_memory(id, text="Odesa")


def test_equal_memories_merge(store: cw.Store) -> None:
    first = store.remember("Kyiv", about="U1", kind="fact", key="location", at=at(0))
    again = store.remember(" kyiv ", about="U1", kind="fact", key="Location", at=at(9))
    assert again == first
    (stored,) = store.memories()
    assert stored.memory.at == at(9)
    for about, key, scope in (("U2", "location", ""), ("U1", "home", ""), ("U1", "home", "lunch")):
        store.remember("Kyiv", about=about, kind="fact", key=key, scope=scope)
    assert len([*store.memories()]) == 4


def test_those_who_are_answered_or_mentioned_are_known(store: cw.Store) -> None:
    chat = store.conversation("lunch")
    for person, city in ((ALICE, "Kyiv"), (BOB, "Lviv"), (cw.Author("U3", "Eve"), "Odesa")):
        chat.add(cw.user("Hello", author=person))
        store.remember(f"Lives in {city}", about=person.id)
        store.remember(city, about=person.id, kind="fact", key="location")
    recipe = cw.Recipe(system=[sections.Memories(), sections.KeyFacts()])

    def known(text: str, reply: cw.Reply | None = None) -> str:
        chat.add(cw.user(text, author=ALICE, reply_to=reply))
        return "\n".join(chat.context(recipe, model=MODEL, now=NOW).sections.values())

    own = "# Memories about Alice (ID: U1)\n- Lives in Kyiv"
    assert known("And you?") == f"{own}\n## Key Facts\n- Location: Kyiv"
    for told in (
        known("Where does @bob live?"),
        known("Is Bob here?"),
        known("?", cw.Reply("1", BOB)),
    ):
        assert told == (
            f"{own}\n- Bob: Lives in Lviv\n## Key Facts\n- Location: Kyiv\n- Bob: Location: Lviv"
        )
    assert "Lviv" not in known("Bobby is not Bobsled")


# --- events --------------------------------------------------------------------------------------

SMALL = ["Good morning!", "I'm doing good as well!", "How are you doing?", "Great, thanks!"] * 2
LINKED = [f"See https://example.org/page?id={n} for the tomatoes" for n in range(6)]


@pytest.mark.parametrize(
    ("talk", "topic"),
    [
        (SMALL, "small talk"),
        (["Good morning!", *LINKED], "tomatoes"),
        (["Привіт! Доброго ранку!", "Як справи?"] * 4, "small talk"),
    ],
)
def test_topics_are_what_it_is_about(talk: list[str], topic: str) -> None:
    messages = [cw.user(text, author=ALICE, sent_at=at(n)) for n, text in enumerate(talk)]
    (episode,) = find_episodes(enumerate(messages, 1), now=NOW)
    assert episode.topic == topic
    assert "https" not in episode.tags


def test_events_are_told_by_need_and_never_twice(store: cw.Store) -> None:
    chat = store.conversation("garden")
    talk = ["We plant tomatoes", "The tomatoes need water", "Red tomatoes are best", "Water them"]
    chat.add([cw.user(text, author=ALICE, sent_at=at(n)) for n, text in enumerate(talk * 2)])
    chat.make_episodes(now=NOW)
    recipe = cw.Recipe(
        system=[sections.Episodes(least=0.0)], window=cw.windows.KeepRecent(messages=4)
    )

    def told(question: str, **options: object) -> bool:
        chat.add(cw.user(question, author=ALICE, sent_at=at(5_000)))
        found = chat.context(
            cw.Recipe(**{"system": recipe.system, **options}), model=MODEL, now=NOW
        )
        return "tomatoes" in "".join(found.sections.values())

    assert not told("How are the tomatoes?")  # the window has them
    chat.add([cw.user(f"Filler {n}", author=ALICE, sent_at=at(6_000 + n)) for n in range(40)])
    assert told("How are the tomatoes?", window=recipe.window)
    assert not told("What shall we cook for the guests tonight?", window=recipe.window)
    assert not told("How are the tomatoes?", window=cw.windows.KeepAll())


# --- handles -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "speakers"),
    [
        ("What did @dan_the_man promise?", {"Dan 🎸"}),
        ("what did DAN_THE_MAN promise", {"Dan 🎸"}),
        ("Where is zoe.k?", {"Zoë"}),
        ("Where is the man?", set()),
        ("What did Lorry say about his lorry?", {"D. O."}),
        ("Who drives a lorry?", set()),
        ("Write to dan_the_man@example.org.uk?", set()),
    ],
)
def test_a_question_names_a_speaker_by_the_handle(question: str, speakers: set[str]) -> None:
    handles = {"dan_the_man": "Dan 🎸", "zoe.k": "Zoë", "lorry_99": "D. O."}
    assert parse_question(question, handles.values(), None, handles).speakers == speakers


def test_what_a_person_says_is_found_by_the_handle(store: cw.Store) -> None:
    dan, zoe = cw.Author("U3", "Dan 🎸", "@Lorry77"), cw.Author("U4", "Zoë", "zoe.k")
    chat = store.conversation("group")
    for n in range(80):
        chat.add(
            cw.user("on it" if n % 2 else "deploying", author=(dan, zoe)[n % 2], sent_at=at(n))
        )
    chat.add(cw.user("The drill comes back on Friday", author=dan, sent_at=at(100)))
    chat.add(cw.user("My drill came back on Monday", author=zoe, sent_at=at(500)))
    for _ in range(2):  # before and after they are indexed
        best = max(chat.recall("What did lorry77 say about the drill?"), key=lambda hit: hit.score)
        everywhere = store.recall("What did @lorry77 say about the drill?")
        assert best.seq == max(everywhere, key=lambda hit: hit.score).seq == 81
        store.index(few=0)


# --- people and times alone ----------------------------------------------------------------------


@pytest.fixture(name="crowd")
def group_of_forty(store: cw.Store) -> cw.Chat:
    """A group that talks for three weeks; one of forty-one people says something once a day."""
    chat = store.conversation("crowd")
    messages: list[cw.Message] = []
    for hour in range(21 * 24):
        name = f"Person{hour % 40}" if hour % 24 else "Quentin"
        text = f"The {'lamp boat roof flute'.split()[hour % 4]} is number {hour}"
        messages.append(cw.user(text, author=cw.Author(name, name), sent_at=at(60 * hour)))
    chat.add(messages)
    return chat


def test_people_are_found_who_share_no_word_with_the_question(crowd: cw.Chat) -> None:
    found = crowd.recall("What did Quentin want?", budget=400)
    assert {hit.speaker for hit in found} == {"Quentin"}
    assert len(found) > 15
    assert found.confidence > crowd.recall("What did Marjorie want?", budget=400).confidence


@pytest.mark.parametrize("question", ["What happened on 5 January?", "Що було 5 січня?"])
def test_times_are_found_that_share_no_word_with_the_question(
    crowd: cw.Chat, question: str
) -> None:
    found = crowd.recall(question, budget=400, now=datetime(2026, 1, 30, tzinfo=UTC))
    assert sum(hit.day == "2026-01-05" for hit in found) > 15
    assert found.confidence >= MIN_CONFIDENCE
    yearly = crowd.recall(question, budget=400)
    assert sum(hit.day == "2026-01-05" for hit in yearly) > 15


def test_a_person_at_a_time_comes_first(crowd: cw.Chat) -> None:
    now = datetime(2026, 1, 30, tzinfo=UTC)
    found = crowd.recall("What did Quentin want on 5 January?", now=now)
    best = max(found, key=lambda hit: hit.score)
    assert (best.speaker, best.day) == ("Quentin", "2026-01-05")
    recipe = cw.Recipe(system=["You are Aya.", sections.PastMessages()], budget=600)
    crowd.add(cw.user("What did Quentin want on 5 January?", author=ALICE))
    context = crowd.context(recipe, model=MODEL, now=now)
    assert best.undated_line in "".join(context.sections.values())


def test_what_the_one_who_asks_said_is_found_without_a_word_of_it(crowd: cw.Chat) -> None:
    recipe = cw.Recipe(system=["You are Aya.", sections.PastMessages(confidence=0)], budget=600)
    crowd.add(cw.user("What did I want?", author=cw.Author("Quentin", "Quentin")))
    told = "".join(crowd.context(recipe, model=MODEL).sections.values())
    assert told.count("Quentin: ") > 10


# --- names in another script ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Олександр", "When does Oleksandr leave?"),
        ("Oleksandr", "Коли їде Олександр?"),
        ("Oleksandr", "Що казали Олександрові?"),
        ("Юлія", "What did Yulia promise?"),
        ("Dmitry", "Что обещал Дмитрий?"),
        ("محمد", "What did Mohammed promise?"),
        ("Muhammad", "ماذا قال محمد؟"),
        ("राहुल", "What did Rahul say?"),
        ("राहुल", "राहुल ने क्या कहा?"),
    ],
)
def test_a_question_names_a_speaker_in_another_script(name: str, question: str) -> None:
    assert parse_question(question, {name, "Bob"}).speakers == {name}


@pytest.mark.parametrize("question", ["Who is Julia?", "when is the talk", "Хто такий Толік?"])
def test_other_names_are_not_those_of_a_speaker(question: str) -> None:
    assert parse_question(question, {"Юлія", "Тимур", "Talkot"}).speakers == frozenset()


def test_messages_about_a_name_in_another_script_are_found(store: cw.Store) -> None:
    chat = store.conversation("trip")
    chat.add([cw.user(f"Filler {n}", author=BOB, sent_at=at(n)) for n in range(40)])
    chat.add(cw.user("Олександр приїде о восьмій", author=BOB, sent_at=at(50)))
    chat.add([cw.user(f"Filler {n}", author=BOB, sent_at=at(100 + n)) for n in range(40)])
    chat.add(cw.user("Yulia brings the tent", author=BOB, sent_at=at(200)))
    assert [hit.seq for hit in chat.search("Oleksandr")] == [41]
    assert [hit.seq for hit in chat.search("Юлія")] == [82]
    assert next(iter(chat.recall("When does Oleksandr arrive?", limit=1))).seq == 41
    assert next(iter(chat.recall("Що візьме Юлія?", limit=1))).seq == 82
    store.remember("Oleksandr eats no nuts", at=at(9))
    assert "no nuts" in chat.recall("Що не їсть Олександр?").text

"""Recall over forks, tenants, languages and failing embedders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.recall.memories import Ranking
from contextwright.tokens.tokenizers import vocabulary
from samples.stores.recall import START, told


@pytest.fixture
def store(place: str) -> Iterator[cw.Store]:
    with cw.Store(place, embedder=None) as store:
        yield store


# --- forks, tenants, many conversations ----------------------------------------------------------


def test_a_fork_knows_nothing_of_what_its_parent_says_later(store: cw.Store) -> None:
    anna, boris = cw.Author("1", "Anna"), cw.Author("2", "Boris")
    chat = store.conversation("a")
    chat.add([cw.user("The lamp is green", author=anna), cw.user("Is it?", author=boris)])
    fork = chat.fork("b")
    before = fork.recall("What did Clara say about the lamp?", ranking=Ranking(senders=1))
    for few in (None, 0):
        for number in range(5):
            clara = cw.Author("3", "Clara")
            chat.add(cw.user(f"Lamp {number}, Clara!", author=clara, sent_at="2023-05-01"))
        store.index("a", few=few)
        assert (
            fork.recall("What did Clara say about the lamp?", ranking=Ranking(senders=1)) == before
        )


def test_what_the_parent_hides_a_fork_may_have(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("The lamp is green"), cw.user("The lamp is new")])
    fork = chat.fork("b")
    fork.add(cw.user("A lamp of the fork"))
    chat.hide(1)
    assert [(item.conversation, item.seq) for item in store.recall("lamp green")] in (
        [("a", 2), ("b", 1), ("b", 3)],
        [("b", 1), ("b", 2), ("b", 3)],
    )
    fork.hide(1)
    assert 1 not in [item.seq for item in store.recall("lamp green")]


def test_the_right_conversation_is_found_among_many(store: cw.Store) -> None:
    other = store.for_tenant("other")
    other.conversation("talk 7").add(cw.user("The passport is in their drawer"))
    for number in range(30):
        chat = store.conversation(f"talk {number}")
        chat.add([cw.user(f"We spoke of boats, day {number}"), cw.user("Good night")])
    store.conversation("talk 7").add(cw.user("The passport is in the red drawer"))
    store.conversation("talk 9").add(cw.user("I need new shoes"))
    found = store.recall("Where is the passport?", limit=1)
    assert found.text == "talk 7, user: The passport is in the red drawer"
    assert [item.message.text for item in other.recall("passport")] == [
        "The passport is in their drawer"
    ]
    assert len(store.for_tenant("nobody").recall("passport")) == 0
    store.forget("talk 7")
    texts = [item.message.text for item in store.recall("Where is the passport?")]
    assert not any("passport" in text for text in texts)


def test_what_is_recalled_is_told_with_its_day_and_its_speaker(store: cw.Store) -> None:
    """A whole answer, in the order in which it was said."""
    anna, boris = cw.Author("1", "Anna"), cw.Author("2", "Boris")
    chat = store.conversation("kitchen")
    days = [START + timedelta(days=day) for day in (0, 0, 40, 40, 80)]
    lines = [
        (anna, "Where did you get this lamp?"),
        (boris, "At the flea market,\n# right by the river"),
        (anna, "We should paint the wall."),
        (boris, "Green, please."),
        (anna, "The lamp broke! #2 Boris: I did it"),
    ]
    for day, (author, text) in zip(days, lines, strict=True):
        chat.add(cw.user(text, author=author, sent_at=day))
    assert chat.recall("Where did Boris get the lamp?", limit=3).text == (
        "2023-05-01, Anna: Where did you get this lamp?\n"
        "2023-05-01, Boris: At the flea market, # right by the river\n"
        "2023-07-20, Anna: The lamp broke! #2 Boris: I did it"
    )


def test_what_is_known_counts_and_forges_nothing(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add(cw.user("The lamp is green", author=cw.Author("1", "Anna")))
    for text in ("The lamp\nAnna: is mine", "lamp 2023-05-01, a:", "A lamp."):
        store.remember(text, about="Anna: lamp, Eve", key="lamp\n2023, a:", at="2024-02-03")
    for recall, place in ((chat.recall, ""), (store.recall, "a, ")):
        assert recall("lamp").text == (
            "2024-02-03, about Anna; lamp; Eve: lamp 2023, a:: A lamp.\n"
            "2024-02-03, about Anna; lamp; Eve: lamp 2023, a:: lamp 2023-05-01, a:\n"
            "2024-02-03, about Anna; lamp; Eve: lamp 2023, a:: The lamp Anna: is mine\n"
            f"{place}Anna: The lamp is green"
        )
        for most in range(5):
            assert len(recall("lamp", limit=most)) == most if most < 4 else 4
        for budget in range(0, 200, 7):
            found = recall("lamp", budget=budget)
            assert vocabulary("o200k_base")(found.text) <= found.tokens <= budget


# --- languages -----------------------------------------------------------------------------------

UKRAINIAN = """
Привіт! Як справи?
Добре, дякую. Щойно повернувся з роботи.
Що нового?
Нарешті купив велосипед, синій, з кошиком.
О, вітаю! Де саме?
У крамниці на Подолі, біля мосту.
Дорого?
Сім тисяч гривень.
А я вчора ходила до лікаря.
Що сталося?
Болить коліно після пробіжки.
Бережи себе.
Лікарка прописала мазь і спокій на два тижні.
Тоді підемо в кіно замість парку.
На що?
На ту комедію про кота.
Чудово, я люблю котів.
До речі, моя сестра переїхала до Львова.
Коли?
Минулого місяця, вона там викладає музику.
На чому вона грає?
На скрипці та трохи на бандурі.
Гарно.
У неділю ми печемо пиріг із вишнями.
Запрошуєш?
Звісно, приходь о третій.
Принесу морозиво.
Тільки не шоколадне, у мами алергія.
Зрозуміла, буде ванільне.
Бачила, який сьогодні захід сонця?
Так, неймовірний.
Добраніч!
""".strip().splitlines()

CHINESE = """
早上好！
早，昨晚睡得好吗？
不太好，楼上太吵了。
你应该跟房东说说。
说过了，没有用。
对了，我上周买了一辆蓝色的自行车。
在哪里买的？
在大学旁边的小店，八百块。
不贵。
你妹妹最近怎么样？
她搬到成都去了，在那里教音乐。
她会什么乐器？
小提琴和一点古筝。
真厉害。
我昨天去看了医生。
怎么了？
跑步以后膝盖疼。
要多休息。
医生让我休息两个星期。
那我们周末去看电影吧。
看什么？
一部关于猫的喜剧。
太好了，我最喜欢猫。
星期天我们做樱桃派，你来吗？
几点？
下午三点。
我带冰淇淋。
不要巧克力的，妈妈对它过敏。
好的，我带香草味的。
今天的日落真美。
是啊，我拍了照片。
晚安！
""".strip().splitlines()

MEANINGS = {
    "bicycle": ("bike", "велосипед", "自行车", "ровер", "单车"),
    "doctor": ("лікар", "医生", "мазь", "клініка", "大夫"),
    "allergy": ("алергія", "过敏", "заборонена", "不能吃"),
}


def knows_the_meaning(texts: Sequence[str]) -> list[list[float]]:
    """Vectors that know which words mean the same, in any language."""
    return [
        [*(float(any(word in text for word in some)) for some in MEANINGS.values()), 0.1]
        for text in texts
    ]


def chat_of(store: cw.Store, lines: Sequence[str]) -> cw.Chat:
    people = (cw.Author("1", "Оля"), cw.Author("2", "Тарас"))
    chat = store.conversation("a")
    for place, line in enumerate(lines):
        when = START + timedelta(hours=place)
        chat.add(cw.user(line, author=people[place % 2], sent_at=when))
    store.index("a", few=0)
    return chat


FOUND = [
    (UKRAINIAN, "Про який велосипед йшлося?", "Нарешті купив велосипед, синій, з кошиком."),
    (UKRAINIAN, "Куди переїхала сестра?", "До речі, моя сестра переїхала до Львова."),
    (UKRAINIAN, "що з коліном", "Болить коліно після пробіжки."),
    (UKRAINIAN, "неділя та печиво з вишнями", "У неділю ми печемо пиріг із вишнями."),
    (UKRAINIAN, "алергії", "Тільки не шоколадне, у мами алергія."),
    (CHINESE, "自行车是什么颜色的？", "对了，我上周买了一辆蓝色的自行车。"),
    (CHINESE, "妹妹搬到哪里了", "她搬到成都去了，在那里教音乐。"),
    (CHINESE, "膝盖为什么疼", "跑步以后膝盖疼。"),
    (CHINESE, "谁对巧克力过敏？", "不要巧克力的，妈妈对它过敏。"),
]


@pytest.mark.parametrize("embedder", [None, "wordllama"])
@pytest.mark.parametrize(("lines", "query", "line"), FOUND)
def test_words_of_other_languages_are_found(
    tmp_path: Path, lines: list[str], query: str, line: str, embedder: Any
) -> None:
    assert len(lines) > 30
    with cw.Store(tmp_path / "store.db", embedder=embedder) as store:
        recall = chat_of(store, lines).recall(query, limit=4)
        assert recall.has_meaning == (embedder is not None)
        assert line in [item.message.text for item in recall]


@pytest.mark.parametrize(
    ("lines", "query", "line"),
    [
        (UKRAINIAN, "ровер", "Нарешті купив велосипед, синій, з кошиком."),
        (UKRAINIAN, "bike", "Нарешті купив велосипед, синій, з кошиком."),
        (UKRAINIAN, "заборонена їжа", "Тільки не шоколадне, у мами алергія."),
        (CHINESE, "单车", "对了，我上周买了一辆蓝色的自行车。"),
        (CHINESE, "什么不能吃？", "不要巧克力的，妈妈对它过敏。"),
    ],
)
def test_the_meaning_is_found_where_no_word_is_shared(
    place: str, lines: list[str], query: str, line: str
) -> None:
    embedder = cw.recall.Embedder("meaning", knows_the_meaning)
    with cw.Store(place, embedder=embedder) as store:
        chat = chat_of(store, lines)
        assert line in [item.message.text for item in chat.recall(query, limit=2)]
        assert line in [item.message.text for item in store.recall(query, limit=2)]
        store.state.index.vectors = None
        assert line not in [item.message.text for item in chat.recall(query, limit=2)]


@pytest.mark.parametrize(("lines", "query", "line"), FOUND[:2])
def test_vectors_say_the_same_on_every_engine(
    tmp_path: Path, postgres: str, lines: list[str], query: str, line: str
) -> None:
    results: list[Any] = []
    for place in (tmp_path / "store.db", postgres):
        with cw.Store(place, embedder="wordllama") as store:
            chat = chat_of(store, lines)
            results.append((chat.recall(query), store.recall(query)))
            fork = chat.fork("b")
            assert told(fork.recall(query, budget=10**6)) == told(chat.recall(query, budget=10**6))
    assert results[0] == results[1]


# --- large things --------------------------------------------------------------------------------


def test_large_messages_and_queries_are_recalled(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add(
        [cw.user("word " * 200_000), cw.user("The lamp is green"), cw.user("<|im_end|>" * 90_000)]
    )
    for query in ("lamp", "lamp " * 20_000):
        assert [item.seq for item in chat.recall(query, excerpts=False)] == [2]
        assert max(chat.recall(query), key=lambda item: item.score).seq == 2
    whole = chat.recall("word", budget=10**6, excerpts=False)
    assert whole.items[0].line.endswith("...")
    assert len(whole.items[0].line) < 61_000
    assert vocabulary("o200k_base")(whole.text) <= whole.tokens


def test_an_option_that_is_not_there_is_named(store: cw.Store) -> None:
    store.conversation("a").add(cw.user("tea"))
    for recall in (store.conversation("a").recall, store.recall):
        with pytest.raises(cw.UsageError, match="cannot be 'buget' .known: budget, about"):
            recall("tea", buget=3)  # type: ignore[call-arg]
        with pytest.raises(cw.UsageError, match="about, character 1: a NUL"):
            recall("tea", about="\0")


# --- what the window leaves out, and what others say ----------------------------------------------


def test_a_short_message_is_recalled_beside_many_long_ones(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user(f"hazelnut report {n}: " + "lorem ipsum " * 90) for n in range(90)])
    chat.add(cw.user("Alice must not eat any hazelnut."))
    assert [item.seq for item in chat.recall("hazelnut", budget=200)] == [91]


def test_blanks_take_no_room(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add([cw.user("I am allergic to hazelnuts." + "\n" * 10_000), cw.user("nuts " * 30_000)])
    assert [item.seq for item in chat.recall("hazelnuts", budget=100)] == [1]
    assert [item.seq for item in chat.recall("nuts", budget=100_000)] == [1, 2]


@pytest.mark.parametrize("gone", ["hidden", "system"])
def test_what_cannot_be_recalled_crowds_out_no_conversation(store: cw.Store, gone: str) -> None:
    for number in range(12):
        chat = store.conversation(f"old {number}")
        say = cw.system if gone == "system" else cw.user
        chat.add(say("my hazelnut allergy is severe"))
        if gone == "hidden":
            chat.delete(1)
    store.conversation("z").add(cw.user("The hazelnut cake is for Alice, not me"))
    assert [item.conversation for item in store.recall("hazelnut allergy")] == ["z"]


def test_letters_of_mathematics_are_letters(store: cw.Store) -> None:
    chat = store.conversation("a")
    chat.add(cw.user("𝐇𝐞𝐥𝐥𝐨 from ℡ and №5"))
    for few in (99, 0):
        store.index("a", few=few)
        assert [hit.seq for hit in store.search("hello tel", "a")] == [1]


@pytest.mark.parametrize("section", [cw.sections.PastMessages(), cw.sections.PastExcerpts()])
def test_the_newest_messages_are_recalled_where_a_window_has_no_room(
    store: cw.Store, section: cw.Section
) -> None:
    chat = store.conversation("trip")
    chat.add(cw.user("I can't eat hazelnuts.", author="Alice"))
    chat.add([cw.user(f"clouds {number} over the sea", author="Bob") for number in range(20)])
    chat.add(cw.user("What can't Alice eat? Nuts?", author="Bob"))
    wide = chat.context(cw.Recipe(system=["Be kind.", section]), model="gpt-4o")
    assert list(wide.sections) == ["Instructions[0]"]
    recipe = cw.Recipe(system=["Be kind.", section], window=cw.windows.KeepRecent(messages=3))
    narrow = chat.context(recipe, model="gpt-4o")
    kept = [number + 1 for number in narrow.decisions.kept()]
    told = "\n".join(narrow.sections.values())
    assert kept == [20, 21, 22]
    assert "I can't eat hazelnuts." in told
    assert not any(f"clouds {number} over" in told for number in (18, 19))


def test_recency_counts_from_the_newest_message_where_nobody_says_when_it_is(
    store: cw.Store,
) -> None:
    chat = store.conversation("a")
    lines = ("tea on Monday", "soup", "tea on Friday")
    chat.add(
        [cw.user(line, sent_at=START + timedelta(days=30 * n)) for n, line in enumerate(lines)]
    )
    ranking = Ranking(recency=1.0)
    then = chat.recall("tea", ranking=ranking, now=START + timedelta(days=60))
    assert chat.recall("tea", ranking=ranking) == then
    assert chat.recall("tea") != then


# --- an embedder that fails ---------------------------------------------------------------------


def test_without_its_embedder_recall_goes_by_words_and_says_so(place: str) -> None:
    def fails(texts: Sequence[str]) -> object:
        raise ConnectionError("429 too many\nrequests")

    with cw.Store(place, embedder=cw.recall.Embedder("far", fails)) as store:
        chat = store.conversation("a")
        chat.add([cw.user(f"tea number {number}") for number in range(100)])
        chat.add([cw.user("The risotto was good."), cw.user("rice"), cw.user("How was risotto?")])
        reason = "the embedder 'far' failed: ConnectionError: '429 too many'"
        for found in (chat.recall("risotto", limit=2), store.recall("risotto", limit=2)):
            assert (found.items[0].seq, found.has_meaning, found.trouble) == (101, False, reason)
        recipe = cw.Recipe(
            system=[cw.sections.PastMessages(most=1)], window=cw.windows.KeepRecent(messages=1)
        )
        context = chat.context(recipe, model="gpt-4o")
        assert "user: The risotto was good." in context.sections["PastMessages[0]"]
        assert [str(change) for change in context.changes if "meaning" in change.code] == [
            f"loss.meaning memories: recalled by words only: {reason}"
        ]
        with pytest.raises(cw.errors.EmbedderError, match="the embedder 'far' failed"):
            store.index()


@pytest.mark.parametrize("query", ["", " ", "?!", "😀", "...\n"])
def test_signs_mean_nothing(place: str, query: str) -> None:
    with cw.Store(place, embedder="wordllama") as store:
        chat = store.conversation("a")
        chat.add([cw.user("The risotto was good."), cw.user("It rains?!")])
        assert not chat.recall(query).items
        assert not store.recall(query).items

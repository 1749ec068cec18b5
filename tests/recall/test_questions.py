"""Questions: their words, and whom they name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.recall.questions import parse_question
from samples import hostile
from samples.recall import START

PEOPLE = (
    *("Anna", "Will", "Олена", "小明 Wang", "O'Brien", "Anna-Maria de la Cruz", "I", ""),
    *("王建国", "박지민", "田中太郎"),
)
CROWD = (
    "Олег",
    "Ольга Коваль",
    "Андрій",
    "Jürgen Fischer",
    "Sabine",
    "Żaneta",
    "Hans",
    "sashko_99",
    "kit_kat",
)


@pytest.mark.parametrize(
    ("query", "speakers"),
    [
        ("What did Anna say about the trip?", {"Anna", "Anna-Maria de la Cruz"}),
        ("what did anna say", {"Anna", "Anna-Maria de la Cruz"}),
        ("Will it rain?", set()),
        ('Hello!\n"Will it rain?', set()),
        ("Will he come if Will is late?", {"Will"}),
        ("Will, when?", {"Will"}),
        ("Will's birthday?", {"Will"}),
        ("Will Smith came?", {"Will"}),
        ("Will", {"Will"}),
        ("it will rain", set()),
        ("Where does Will live?", {"Will"}),
        ("Що казала Олена про каву?", {"Олена"}),
        ("小明喜欢什么？", {"小明 Wang"}),
        ("建国喜欢什么？", {"王建国"}),
        ("王什么时候来？", set()),
        ("지민이 어디 있어?", {"박지민"}),
        ("田中さんは何が好き?", {"田中太郎"}),
        ("What does Wang like?", {"小明 Wang"}),
        ("what does brien like", {"O'Brien"}),
        ("bananas", set()),
        ("", set()),
    ],
)
def test_whom_a_question_names(query: str, speakers: set[str]) -> None:
    assert parse_question(query, PEOPLE).speakers == speakers


@pytest.mark.parametrize(
    ("query", "speakers", "meaning"),
    [
        ("Що подарувати Ользі?", {"Ольга Коваль"}, "Що подарувати"),
        ("Що казала Ольга?", {"Ольга Коваль"}, "Що казала"),
        ("Де живе сестра Андрія?", {"Андрій"}, "Де живе сестра"),
        ("что купил андрей", set(), "что купил андрей"),
        ("Кто ездил с Андреем и Ольгой?", {"Андрій", "Ольга Коваль"}, "Кто ездил с и"),
        ("Wie heißt Jürgens Hund?", {"Jürgen Fischer"}, "Wie heißt Hund"),
        ("Was ist mit Sabines Router?", {"Sabine"}, "Was ist mit Router"),
        ("Welche Fische mag Hans?", {"Hans"}, "Welche Fische mag"),
        ("Gdzie jest pies Żanety?", {"Żaneta"}, "Gdzie jest pies"),
        ("Who has Sabines?", set(), "Who has Sabines"),
        ("Did sashko sell the first aid kit?", {"sashko_99"}, "Did sell the first aid kit"),
        ("What does kit_kat owe?", {"kit_kat"}, "What does owe"),
    ],
)
def test_names_have_the_forms_of_their_language(
    query: str, speakers: set[str], meaning: str
) -> None:
    question = parse_question(query, CROWD)
    assert (question.speakers, question.embedded_text.rstrip("?")) == (speakers, meaning)


@pytest.mark.parametrize(
    ("query", "terms", "common", "is_own"),
    [
        (
            "When did I buy the green teapot?",
            {"green", "teapot", "buy"},
            {"when", "did", "i", "the"},
            True,
        ),
        ("what is it", {"what", "is", "it"}, set(), False),
        ("?! …", set(), set(), False),
        ("'; DROP TABLE words; -- NEAR(a)", {"drop", "tabl", "word", "near"}, {"a"}, False),
        ("Де мої ключі?", {"клюк"}, {"де", "мо"}, True),
        ("Чий це ключ, мій?", {"клюк"}, {"чи", "це", "мі"}, True),
        ("我的钥匙在哪里", {"的钥", "钥匙", "匙在"}, {"我的", "在哪", "哪里"}, True),
        ("Wo steht mein Zahnarztstuhl?", {"steh", "zahnarztstuhl"}, {"wo", "mein"}, True),
        ("¿Dónde están mis llaves?", {"llav"}, {"dond", "estan", "mis"}, True),
    ],
)
def test_the_words_of_a_question(
    query: str, terms: set[str], common: set[str], is_own: bool
) -> None:
    question = parse_question(query)
    assert (set(question.terms), set(question.common_terms)) == (terms, common)
    assert question.is_about_asker == is_own


def test_names_in_a_question_are_words_with_a_capital() -> None:
    assert parse_question("Did Olena see the NASA rocket in rome?").name_terms == {"olena"}


def test_the_meaning_of_a_question_has_no_speakers_in_it() -> None:
    assert parse_question("What did Anna cook for Boris?", ("Anna", "Boris")).embedded_text == (
        "What did cook for"
    )
    assert parse_question("Anna!", ("Anna",)).embedded_text == "Anna!"


@given(st.text(max_size=200) | st.sampled_from(hostile.OWN), st.lists(st.text(max_size=8)))
def test_any_text_is_a_question(text: str, names: list[str]) -> None:
    question = parse_question(text, names, START)
    assert len(question.terms) <= 32
    assert len(question.common_terms) <= 6
    assert question.speakers <= set(names)
    assert question == parse_question(text, names, START)
    assert len(parse_question(text * 500, names).text) <= 2_001


@pytest.mark.parametrize(
    "paste",
    [
        "\n".join(
            f"12:{n:02} INFO worker-{n % 7} request_id=req{n * 7919} took {n} ms" for n in range(90)
        ),
        "```\n" + "settings = load_settings(path)\n" * 200 + "```",
    ],
)
def test_what_is_asked_before_or_after_a_long_paste_counts(paste: str) -> None:
    asked = "What is the retry limit for billing?"
    wanted = set(parse_question(asked).terms)
    for text in (f"{asked}\n\n{paste}", f"{paste}\n\n{asked}"):
        assert wanted <= set(parse_question(text).terms)


THINGS_TOO = (
    "Maarten van den Berg",
    "Sam (work)",
    "Bill",
    "Tom Price",
    "Peter Weiß",
    "sasha.v",
    "Ann",
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What colour is the van?", ()),
        ("Where did van den Berg go?", ("Maarten van den Berg",)),
        ("Where does Iris work?", ()),
        ("How much was the bill?", ()),
        ("How much did bill pay for the cake that ann baked?", ("Ann", "Bill")),
        ("What was the price of this Bill?", ("Bill",)),
        ("What did Price say?", ("Tom Price",)),
        ("what was the best price", ()),
        ("Wer weiß, wann der Zug fährt?", ()),
        ("Was sagt Weiß?", ("Peter Weiß",)),
        ("what did sasha break?", ("sasha.v",)),
        ("o que a ann disse?", ("Ann",)),
    ],
)
def test_what_is_a_thing_here_names_nobody(text: str, named: tuple[str, ...]) -> None:
    """Words of names are words of things too: of the van, and of Maarten van den Berg."""
    assert parse_question(text, THINGS_TOO).speakers == {*named}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Anna say?", ("Anna Hill", "Anna K.", "Anna Price")),
        ("What did Anna Hill say?", ("Anna Hill",)),
        ("What did Anna K. say?", ("Anna K.",)),
        ("Where did Anna K and Price meet?", ("Anna K.", "Anna Price")),
        ("What did Agent Tom offer?", ("Agent Tom",)),
        ("Which agent helped?", ("Agent Mia", "Agent Tom")),
    ],
)
def test_of_people_with_one_name_the_one_whose_names_are_given_is_meant(
    text: str, named: tuple[str, ...]
) -> None:
    people = ("Anna Hill", "Anna K.", "Anna Price", "Agent Tom", "Agent Mia")
    assert parse_question(text, people).speakers == {*named}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what did lena say", ("Dr. Lena Vogt",)),
        ("Did Dr. Vogt call?", ("Dr. Lena Vogt",)),
        ("Who has 170 points?", ()),
        ("What did 007 want?", ("007",)),
        ("健康診断はいつ?", ()),
        ("健さんは元気?", ("佐藤 健",)),
        ("佐藤さんは元気?", ("佐藤 健",)),
    ],
)
def test_titles_numbers_and_names_of_one_character(text: str, named: tuple[str, ...]) -> None:
    people = ("Dr. Lena Vogt", "+49 170 1234567", "007", "佐藤 健")
    assert parse_question(text, people).speakers == {*named}

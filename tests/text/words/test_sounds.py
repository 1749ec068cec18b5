"""Sounds: what names have in common in two scripts, and other words have not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.text.terms import findable_terms, term_variants, terms_of
from contextwright.text.words.sounds import heard, sounds_alike, sounds_of

SAME = """
oleksandr alexander олександр олександра олександром олександрові александр
yulia yuliia yuliya юлія юлію юлія юлия
dmitry dmitri dmytro дмитрий дмитрию дмитро
artem артем артема
mohammed muhammad mohamed محمد لمحمد ومحمد мухаммед
ahmed ahmad أحمد احمد ахмед
abdullah عبدالله
marwan مروان
fatima fatimah فاطمة фатима
kyiv київ
shevchenko шевченко шевченка
sarah sara сара
giorgos γιώργος
rahul राहुल
neha नेहा
zhanna жанна жанну
"""
DIFFERENT = "Yulia Олена | Ivan Іраклій | July Юлія | Talk Тато | Anna Олег | Mark محمد | Ali علي"


@pytest.mark.parametrize("names", [line.split() for line in SAME.strip().splitlines()])
def test_a_name_sounds_alike_in_all_scripts(names: list[str]) -> None:
    first = names[0]
    for name in names[1:]:
        if name.isascii() != first.isascii():
            assert sounds_alike(first, is_name=True) & sounds_of(name), name
            assert sounds_alike(name, is_name=True) & sounds_of(first), name
        else:  # names in one script are compared by their letters
            assert not sounds_alike(first, is_name=True) & sounds_of(name), name


@pytest.mark.parametrize("pair", DIFFERENT.split(" | "))
def test_other_names_do_not(pair: str) -> None:
    first, second = pair.lower().split()
    assert not sounds_alike(first, is_name=True) & sounds_of(second)


def test_a_word_that_is_not_written_as_a_name_needs_more_consonants() -> None:
    assert sounds_alike("oleksandr", is_name=False) == {"\ue001olksndr"}
    assert sounds_alike("talk", is_name=False) == set()
    assert sounds_alike("yulia", is_name=False) == set()


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Олександр приїде о восьмій", "When does Oleksandr arrive?"),
        ("Олександр приїде о восьмій", "when does oleksandr arrive"),
        ("Я бачив Юлію вчора", "Did he see Yulia?"),
        ("Dmitry brings the tent", "Что принесёт Дмитрий?"),
        ("Mohammed paid the rent", "ماذا دفع محمد؟"),
        ("دفع محمد الإيجار", "What did Muhammad pay?"),
        ("राहुल कल आएगा", "When does Rahul come?"),
    ],
)
def test_a_question_in_another_script_finds_the_message(message: str, question: str) -> None:
    others = set().union(*term_variants(question).values())
    assert others & findable_terms(message)
    assert not terms_of(question) & findable_terms(message)


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("у Вінниці тепло", "which events were there?"),
        ("В Вінниці тепло", "which events were there?"),
        ("я люблю талант", "Who is Atlant?"),
        ("Oleksandr called", "Who is Alexander?"),
        ("OLEKSANDR", "Хто такий Олександр?"),
    ],
)
def test_other_messages_are_not_found(message: str, question: str) -> None:
    others = set().union(*term_variants(question).values())
    assert not others & findable_terms(message)


@given(st.text(max_size=40))
def test_sounds_of_any_word(word: str) -> None:
    sounds = sounds_of(word)
    assert len(sounds) <= 3
    assert all(sound[0] == "\ue001" and 4 <= len(sound) <= 99 for sound in sounds)
    assert all(sound.isalpha() and sound.isascii() for sound in heard(word))
    assert sounds_alike(word, is_name=False) <= sounds_alike(word, is_name=True)
    assert len(sounds_alike(word, is_name=True)) == len(sounds)

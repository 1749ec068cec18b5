"""Analyse questions: which terms, speakers and times they ask for."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from contextwright.recall.dates.periods import Period, periods
from contextwright.text.persons import means_speaker, means_speaker_alone
from contextwright.text.terms import (
    VOWELLED,
    Languages,
    common_words,
    compound_parts,
    keywords,
    languages_of,
    plain,
    spelled,
    term_variants,
    terms_of,
    written_in,
)
from contextwright.text.words.identifiers import parts_of, without_code
from contextwright.text.words.sounds import is_said_as_name, sounds_alike, sounds_of

__all__ = ["Question", "parse_question", "with_asker", "with_speakers"]

MAX_TERMS = 32
"""Maximum number of terms to search for. The longest are used, because they say most."""

MAX_COMMON_TERMS = 6
"""Maximum number of common terms to search for."""

MAX_COMPOUND_PARTS = 8
"""Maximum number of parts of compounds to search for."""

MAX_KEYWORDS = 5
"""Maximum number of terms of a query without a question mark that is still a question."""

MAX_QUESTION_CHARS = 2_000
"""Maximum characters of a question. Of a longer one, probably pasted, both ends are used."""

INFLECTING = frozenset(("greek", "polish", "russian", "ukrainian"))
"""Languages in which names have cases."""
GENITIVE = frozenset(("dutch", "german", "swedish"))
"""Languages whose genitive of a name is an s without an apostrophe."""
MIN_HANDLE_PART = 4
"""Minimum letters of a part of a handle that counts as a name; shorter ones are often words."""
WORD = re.compile(f"(?:\\w|[{VOWELLED}])+")
LETTERS = re.compile(r"[^\W\d_]+")
DIGIT = re.compile(r"\d")
HANDLE = re.compile(r"(?<!\w)\w(?:[\w.-]*\w)?(?![\w@])")
"""A handle. Before an `@` it would be the first part of an address."""
GIVEN_NAME = re.compile(r"\s*(?:\S+\.\s+)*\S+")
"""A name up to its first word, including titles and initials: Dr. Anna."""
SENTENCE_START = re.compile(r"(?:\A|[.!?…\n])[^\w.!?…\n]{0,5}(\w+)(?=\s+(\w))")
"""The first word of a sentence, and the next letter, which tells "Will it rain?" from "Will
Smith"."""
DETERMINED_NOUN = re.compile(
    r"\b(?i:the|an?|this|these|those|my|your|his|her|its|our|their)\s+[^\W\d_A-Z]\w*"
)
"""A determiner with a word in lower case: "the bill", "my mark"."""
QUESTION_MARK = re.compile("[?？؟\u037e]")
UNSPACED = "[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Scripts without spaces between a name and the next word. It is compiled only when needed, because
that takes milliseconds and only names outside ASCII need it."""
HONORIFICS = ("さん", "くん", "君", "ちゃん", "様", "氏", "씨", "先生", "老师")
FULL_NAME = "[\u4e00-\u9fff\uac00-\ud7af]"
"""Characters of full names: Han and Hangul. Two kana are part of too many words."""

CACHED_NAMES = 32_768
"""Number of names that are divided into words only once. There may be thousands of people, and
every question may name each of them."""

NO_HANDLES: Mapping[str, str] = MappingProxyType({})
"""No handles."""


class Question(Struct, frozen=True):
    """A question and its parts."""

    text: str
    terms: tuple[str, ...]
    """The terms to search for."""
    common_terms: tuple[str, ...]
    """Common terms to search for, with less weight."""
    compound_parts: tuple[tuple[str, ...], ...]
    """For each compound, terms that may be its first or last part."""
    name_terms: frozenset[str]
    """Terms that are written as names."""
    embedded_text: str
    """The text to embed: without the names of speakers, because they would favour messages that
    mention a name over messages by that speaker.
    """
    speakers: frozenset[str]
    """The speakers it names."""
    is_about_asker: bool
    """Whether it is about the person who asks."""
    periods: tuple[Period, ...]
    askers: frozenset[str] = frozenset()
    """The names of the person who asks, if it is about them and several people talk; else empty."""
    is_remark: bool = False
    """Whether it asks nothing: it has no question mark, and more than a few keywords."""
    speaker_terms: frozenset[str] = frozenset()
    """The terms that name speakers."""
    date_terms: frozenset[str] = frozenset()
    """The terms that name times."""
    variants: Mapping[str, Set[str]] = MappingProxyType({})
    """Terms that a message may contain instead of a term."""


def parse_question(
    text: str,
    speakers: Iterable[str] = (),
    now: datetime | None = None,
    handles: Mapping[str, str] = NO_HANDLES,
) -> Question:
    """Analyse a question.

    Args:
        speakers: the names of the people it may name.
        now: the time that "yesterday" is relative to.
        handles: names of speakers by handle, in lower case.
    """
    text = truncate_middle(text)
    words = WORD.findall(text)
    languages = languages_of(text)
    content_terms = keywords(text)
    terms = sorted(content_terms, key=longest_first)
    common_terms = sorted(terms_of(text) - content_terms, key=longest_first)
    named_periods = periods(text, now)
    keyword_count = len(content_terms) - len(parts_of(written_in(text).marked))
    question = Question(
        text=text,
        terms=tuple(terms[:MAX_TERMS]),
        common_terms=tuple(common_terms[:MAX_COMMON_TERMS]),
        compound_parts=tuple(map(tuple, compound_parts(text)[:MAX_COMPOUND_PARTS])),
        name_terms=capitalised_terms(words, languages),
        embedded_text=text,
        speakers=frozenset(),
        is_about_asker=means_speaker(set(map(plain, words)), text),
        periods=named_periods,
        is_remark=keyword_count > MAX_KEYWORDS and QUESTION_MARK.search(text) is None,
        date_terms=frozenset(terms_of(" ".join(time.said for time in named_periods), languages)),
        variants=term_variants(text),
    )
    return with_speakers(question, speakers, handles)


def capitalised_terms(words: Iterable[str], languages: Languages) -> frozenset[str]:
    """Return the terms of words with a capital letter, except common words and abbreviations."""
    common = common_words(languages)
    capitalised = {word for word in words if word[:1].isupper() and not word.isupper()}
    names = (word for word in capitalised if plain(word) not in common)
    return frozenset(term for name in names for term in terms_of(name.lower(), languages))


def truncate_middle(text: str) -> str:
    """Return the question without its middle if it is long.

    People ask before or after what they paste. Code is left out first.
    """
    if len(text) <= MAX_QUESTION_CHARS:
        return text
    text = without_code(text).strip() or text
    half = MAX_QUESTION_CHARS // 2
    return text if len(text) <= MAX_QUESTION_CHARS else f"{text[:half]}\n{text[-half:]}"


def with_speakers(
    question: Question, speakers: Iterable[str], handles: Mapping[str, str] = NO_HANDLES
) -> Question:
    """Return the question with the speakers that it names, of those in a conversation.

    Args:
        speakers: the names of the people it may name.
        handles: names of speakers by handle, in lower case.
    """
    people = tuple(speakers)
    words = WORD.findall(question.text)
    languages = languages_of(question.text)
    matched = named_as_spelled(question.text, people, languages)
    # "Anna Hill" does not mean Anna Price, but "Anna" may mean either.
    full = set(matched.values())
    named = {name for name, found in matched.items() if not any(found < other for other in full)}
    used = {word for found in full for word in found}
    common = common_words(languages)
    unmatched = [word for word in words if is_said_as_name(word)]
    unmatched = [word for word in unmatched if plain(word) not in used | common]
    for name, found in named_by_stem(unmatched, people, languages):
        named.add(name)
        used.update(found)
    unused = set(map(plain, unmatched)) - used
    for name, found in named_by_handle(question.text, unused, handles):
        named.add(name)
        used.update(found)
    rest = [word for word in words if plain(word) not in used]
    return replace(
        question,
        embedded_text=" ".join(rest) or question.text,
        speakers=frozenset(named),
        speaker_terms=frozenset(terms_of(" ".join(sorted(used)), languages)),
    )


def named_as_spelled(
    text: str, people: Iterable[str], languages: Languages
) -> dict[str, frozenset[str]]:
    """Return the people whose names a question contains, with the words that name them."""
    known = possible_name_words(text, languages)
    common = common_words(languages)
    written = capital_words(text)
    matched = {
        name: frozenset(matched_name_words(name, written, known, common))
        for name in people
        if has_unspaced(name) or not known.isdisjoint(plain_words_of_name(name))
    }
    return {name: words for name, words in matched.items() if words}


def named_by_stem(
    words: Iterable[str], people: Iterable[str], languages: Languages
) -> Iterator[tuple[str, list[str]]]:
    """Yield the people who are named by an inflected form, with the words that name them.

    Args:
        words: those of the question that may be names.
    """
    forms = {stem: plain(word) for word in words for stem in name_stems(word, languages)}
    for name in people if forms else ():
        stems = name_stems(name, languages, is_name=True)
        found = [forms[stem] for stem in stems if stem in forms]
        if found:
            yield name, found


def named_by_handle(
    text: str, words: Set[str], handles: Mapping[str, str]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the people whose handle, or a part of it, is in a question, with the words of it.

    Args:
        words: those of the question that may be names, without case and accents.
    """
    addressed = set(HANDLE.findall(text.casefold()))
    for handle, name in handles.items():
        found = words & plain_words_of_name(handle)
        if found or handle in addressed:
            yield name, found or map(plain, WORD.findall(handle))


def with_asker(question: Question, asker: str, people: Iterable[tuple[str, str]]) -> Question:
    """Return the question with the names of the person who asks, if "I" in it means them.

    That matters only if several people talk. If the question names others, as "What did Bob tell
    me?" does, it is about their messages instead.

    Args:
        asker: the id of the person who asks.
        people: names and ids of all speakers.
    """
    known = set(people)
    own = {name for name, id in known if id == asker and name}
    others = {name for name, id in known if id != asker and name}
    words = set(map(plain, WORD.findall(question.text)))
    if not own or not others or question.speakers - own:
        return question
    return (
        replace(question, askers=frozenset(own))
        if means_speaker_alone(words, question.text)
        else question
    )


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, and the longer parts of a handle such as sashko_99."""
    words = WORD.findall(name)
    parts = [part for word in words for part in LETTERS.findall(word) if part != word]
    return words + [part for part in parts if len(part) >= MIN_HANDLE_PART]


@lru_cache(CACHED_NAMES)
def plain_words_of_name(name: str) -> frozenset[str]:
    """Return the words of a name without case and accents."""
    return frozenset(map(plain, words_of_name(name)))


@lru_cache(CACHED_NAMES)
def has_unspaced(name: str) -> bool:
    """Whether a name is in a script without spaces."""
    return not name.isascii() and re.search(UNSPACED, plain(name)) is not None


@lru_cache(CACHED_NAMES)
def name_stems(text: str, languages: Languages, *, is_name: bool = False) -> frozenset[str]:
    """Return keys that inflected forms of a name share, by the language of each word.

    They are the stem with the first letters, because Олег and Ольга have the same stem. In German
    and its relatives only the genitive counts, because Fischer has the stem of Fische. Names in
    another script are compared by their sound.
    """
    result: set[str] = set()
    for word in words_of_name(text):
        simple = spelled(word)
        result |= sounds_of(simple) if is_name else sounds_alike(simple, is_name=True)
        language = languages.of(word.lower())
        if len(word) > 2 and language in INFLECTING:
            result |= {f"{plain(word)[:3]}:{term}" for term in terms_of(word, languages)}
        elif language in GENITIVE and (is_name or word.endswith("s")):
            result.add(plain(word if is_name else word[:-1]))
    return frozenset(result)


def capital_words(text: str) -> set[str]:
    """Return the words that may be names by their capital letter, with those in lower case.

    The first word of a sentence is left out if a word in lower case follows: "Will it rain?". In
    "Will's" and "Will Smith" it may be a name.
    """
    openings = {
        opening.start(1) for opening in SENTENCE_START.finditer(text) if opening[2].islower()
    }
    return {word[0] for word in WORD.finditer(text) if word.start() not in openings}


def possible_name_words(text: str, languages: Languages) -> set[str]:
    """Return the words of a question that may be names, without case and accents.

    In English, a word in lower case after a determiner is a thing: "the bill", "my mark".
    """
    named = DETERMINED_NOUN.sub(" ", text) if languages.latin == "english" else text
    return set(map(plain, WORD.findall(named)))


def matched_name_words(
    name: str, written: set[str], known: set[str], common: Container[str]
) -> Iterator[str]:
    """Yield the words of a person's name that a question contains, without case and accents.

    A word that is also a common word, such as Will, needs a capital letter in the question. So does
    every word after the first name: Hill in Dr. Anna Hill, but not van in Maarten van den Berg. A
    number counts only if it is the whole name.

    Args:
        written: the words of the question that may be names, as they are written.
        known: the words of the question without case and accents.
        common: common words.
    """
    beginning = GIVEN_NAME.match(name)
    first = beginning[0] if beginning else ""
    given = frozenset(words_of_name(first))
    for word in words_of_name(name):
        simple = plain(word)
        is_unspaced = has_unspaced(name) and re.search(UNSPACED, simple)
        if is_unspaced and any(part in one for part in parts_of_name(simple) for one in known):
            yield simple
            continue
        is_common = len(simple) < 2 or simple in common
        is_cased = word.lower() != word.upper()
        is_further = is_cased and word not in given and not first.islower()
        if LETTERS.search(word) is None and word != name:
            continue
        if is_common and not (word in written and word[:1].isupper()):
            continue
        if is_further and not any(plain(one) == simple and not one.islower() for one in written):
            continue
        if simple in known:
            yield simple


def parts_of_name(name: str) -> set[str]:
    """Return a name in a script without spaces, and those of its parts that people use alone.

    A full name of three or four characters has a family name in front and a given name at the end.
    A single character is a name only before an honorific.
    """
    if len(name) == 1:  # a part of many words
        return {name + title for title in HONORIFICS}
    is_full = re.fullmatch(f"{FULL_NAME}{{3,4}}", name) is not None
    return {name, name[:2], name[-2:]} if is_full else {name}


def longest_first(term: str) -> tuple[bool, int, str]:
    """Sort key: the longest terms first, and those with digits last, such as numbers and ids."""
    return DIGIT.search(term) is not None, -len(term), term

"""Questions: the words, speakers and times that they ask for."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from datetime import datetime
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from contextwright.recall.dates.periods import Period, periods
from contextwright.text.persons import means_one, means_speaker
from contextwright.text.terms import (
    VOWELLED,
    Languages,
    bare_terms,
    common_words,
    compound_parts,
    keywords,
    languages_of,
    plain,
    spelled,
    terms_of,
    written_in,
)
from contextwright.text.words.identifiers import parts_of, without_code
from contextwright.text.words.sounds import is_said_as_name, sounds_alike, sounds_of

__all__ = ["Question", "asked_among", "asked_by", "question_of"]

MOST_TERMS = 32
"""Maximum number of terms to search for; the longest ones say most."""

MOST_COMMON = 6
"""Maximum number of common words to search for."""

MOST_PARTS = 8
"""Maximum number of parts of compounds to search for."""

KEYWORDS = 5
"""Maximum number of terms of a query that asks without a question mark."""

LONGEST = 2_000
"""Maximum characters of a question; of a longer one, which was probably pasted, both ends count."""

INFLECTING = frozenset(("greek", "polish", "russian", "ukrainian"))
"""Languages in which names have cases."""
GENITIVE = frozenset(("dutch", "german", "swedish"))
"""Languages that add an s to a name, without an apostrophe."""
LONG_PART = 4
"""Minimum letters of a part of a handle that names somebody; shorter ones are often words."""
WORD = re.compile(f"(?:\\w|[{VOWELLED}])+")
LETTERS = re.compile(r"[^\W\d_]+")
DIGIT = re.compile(r"\d")
HANDLE = re.compile(r"(?<!\w)\w(?:[\w.-]*\w)?(?![\w@])")
"""A handle as it may be written; before an `@` it is an address."""
GIVEN = re.compile(r"\s*(?:\S+\.\s+)*\S+")
"""The first word of a name, behind titles and initials: Dr. Anna."""
OPENING = re.compile(r"(?:\A|[.!?…\n])[^\w.!?…\n]{0,5}(\w+)(?=\s+(\w))")
"""The first word of a sentence, and a letter of the next one: "Will it rain?", "Will Smith"."""
THING = re.compile(
    r"\b(?i:the|an?|this|these|those|my|your|his|her|its|our|their)\s+[^\W\d_A-Z]\w*"
)
"""An article or the like, and a word behind it in small letters."""
QUESTION_MARK = re.compile("[?？؟\u037e]")
UNSPACED = "[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Scripts without spaces between a name and the next word; the pattern takes milliseconds to
compile, and only names that are not ASCII need it."""
HONORIFICS = ("さん", "くん", "君", "ちゃん", "様", "氏", "씨", "先生", "老师")
FULL_NAME = "[\u4e00-\u9fff\uac00-\ud7af]"
"""Han and Hangul; kana are left out, because two of them may be anything."""

NONE: Mapping[str, str] = MappingProxyType({})
"""No handles."""


class Question(Struct, frozen=True):
    """A question and its parts."""

    text: str
    terms: tuple[str, ...]
    """The terms to search for."""
    common: tuple[str, ...]
    """Common words; they have little weight."""
    parts: tuple[tuple[str, ...], ...]
    """What may be the first or the last word of each compound."""
    names: frozenset[str]
    """Terms that are written as names."""
    meaning: str
    """Its text without the names of speakers: every message has a speaker, few name one, and a name
    would favour those that do.
    """
    speakers: frozenset[str]
    """Speakers that it names."""
    is_own: bool
    """Whether it is about the person who asks."""
    periods: tuple[Period, ...]
    askers: frozenset[str] = frozenset()
    """The names of the person who asks, if it is about them among several; empty if unknown."""
    is_remark: bool = False
    """Whether it asks nothing: neither a question nor a few keywords."""
    called: frozenset[str] = frozenset()
    """Terms by which it names speakers."""
    dated: frozenset[str] = frozenset()
    """Terms by which it names times."""
    bare: Mapping[str, Set[str]] = MappingProxyType({})
    """What a message may have instead of a term."""


def question_of(
    text: str,
    speakers: Iterable[str] = (),
    now: datetime | None = None,
    handles: Mapping[str, str] = NONE,
) -> Question:
    """Read a question among people of these names, and of these handles with their names."""
    text = both_ends(text)
    words = WORD.findall(text)
    languages = languages_of(text)
    little = common_words(languages)
    telling = keywords(text)
    terms = sorted(telling, key=longest_first)[:MOST_TERMS]
    common = sorted(terms_of(text) - telling, key=longest_first)[:MOST_COMMON]
    # A word in capitals throughout is an abbreviation, not a person.
    capital = {word for word in words if word[:1].isupper() and not word.isupper()}
    telling_names = (word for word in capital if plain(word) not in little)
    written = frozenset(
        term for word in telling_names for term in terms_of(word.lower(), languages)
    )
    times = periods(text, now)
    question = Question(
        text,
        tuple(terms),
        tuple(common),
        tuple(map(tuple, compound_parts(text)[:MOST_PARTS])),
        written,
        text,
        frozenset(),
        means_speaker(set(map(plain, words)), text),
        times,
        is_remark=len(telling) - len(parts_of(written_in(text).marked)) > KEYWORDS
        and QUESTION_MARK.search(text) is None,
        dated=frozenset(terms_of(" ".join(time.said for time in times), languages)),
        bare=bare_terms(text),
    )
    return asked_among(question, speakers, handles)


def both_ends(text: str) -> str:
    """Return a question; of a long one both ends, because people ask before or after a paste."""
    if len(text) <= LONGEST:
        return text
    text = without_code(text).strip() or text
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"


def asked_among(
    question: Question, speakers: Iterable[str], handles: Mapping[str, str] = NONE
) -> Question:
    """Return a question as it is asked among people of these names and handles."""
    people = tuple(speakers)
    words = WORD.findall(question.text)
    languages = languages_of(question.text)
    known = words_that_name(question.text, languages)
    little = common_words(languages)
    written = words_named(question.text)
    by_name = {name: frozenset(naming(name, written, known, little)) for name in people}
    # "Anna Hill" is not Anna Price, but Anna may be either.
    whole = {found for found in by_name.values() if found}
    named = {
        name
        for name, found in by_name.items()
        if found and not any(found < other for other in whole)
    }
    names = {word for found in whole for word in found}
    capital = [
        word for word in words if is_said_as_name(word) and plain(word) not in names | little
    ]
    forms = {base: plain(word) for word in capital for base in bases(word, languages)}
    for name in people if forms else ():
        found = [forms[base] for base in bases(name, languages, is_name=True) if base in forms]
        if found:
            named.add(name)
            names.update(found)
    addressed = set(HANDLE.findall(question.text.casefold()))
    called = set(map(plain, capital)) - names
    for handle, name in handles.items():
        found = [one for one in map(plain, words_of_name(handle)) if one in called]
        if found or handle in addressed:
            named.add(name)
            names.update(found or map(plain, WORD.findall(handle)))
    rest = [word for word in words if plain(word) not in names]
    meaning = " ".join(rest) or question.text
    called = frozenset(terms_of(" ".join(sorted(names)), languages))
    return replace(question, meaning=meaning, speakers=frozenset(named), called=called)


def asked_by(question: Question, asker: str, people: Iterable[tuple[str, str]]) -> Question:
    """Return a question as this person asks it: among several people, their "I" means them.

    Not where the question names others: "What did Bob tell me?" is about his words.

    Args:
        asker: their id.
        people: names and ids of those who talk.
    """
    known = set(people)
    own = {name for name, id in known if id == asker and name}
    others = {name for name, id in known if id != asker and name}
    words = set(map(plain, WORD.findall(question.text)))
    if not own or not others or question.speakers - own:
        return question
    return replace(question, askers=frozenset(own)) if means_one(words, question.text) else question


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, and what people call sashko_99: the longer parts of a handle."""
    words = WORD.findall(name)
    parts = [part for word in words for part in LETTERS.findall(word) if part != word]
    return words + [part for part in parts if len(part) >= LONG_PART]


def bases(text: str, languages: Languages, *, is_name: bool = False) -> set[str]:
    """Return what the forms of a name have in common, as the language of each word inflects it.

    That is its stem and its first letters, because Олег and Ольга have the same stem. Of German
    only the genitive counts, because it writes all nouns as names: Fischer has the stem of Fische.
    In another script it is how a name sounds.
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
    return result


def words_named(text: str) -> set[str]:
    """Return the words of a question, but not those that have a capital for beginning a sentence.

    Before a small word, "Will" asks for the future; in "Will's", and before a family name, it may
    be somebody.
    """
    openings = {opening.start(1) for opening in OPENING.finditer(text) if opening[2].islower()}
    return {word[0] for word in WORD.finditer(text) if word.start() not in openings}


def words_that_name(text: str, languages: Languages) -> set[str]:
    """Return the words of a question that may name somebody, without case and accents.

    In English, what is written small behind an article is a thing: the bill, my mark.
    """
    named = THING.sub(" ", text) if languages.latin == "english" else text
    return set(map(plain, WORD.findall(named)))


def naming(name: str, written: set[str], known: set[str], little: Container[str]) -> Iterator[str]:
    """Yield the words of a name by which a question names a person, without case and accents.

    A name that is a common word too, such as Will, has to be written as one. So have all but the
    first word of a name and its titles: the Hill of Dr. Anna Hill, but not the van of Maarten van
    den Berg. A number names nobody, unless it is all that they are called.
    """
    words = words_of_name(name)
    has_unspaced = not name.isascii() and re.search(UNSPACED, plain(name)) is not None
    if not has_unspaced and known.isdisjoint(map(plain, words)):
        return  # of thousands of people, a question names few
    beginning = GIVEN.match(name)
    first = beginning[0] if beginning else ""
    given = frozenset(words_of_name(first))
    for word in words:
        simple = plain(word)
        is_unspaced = has_unspaced and re.search(UNSPACED, simple)
        if is_unspaced and any(part in one for part in parts_of_name(simple) for one in known):
            yield simple
            continue
        is_common = len(simple) < 2 or simple in little
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
    """Return a name without spaces, and those of its parts that people use alone.

    A full Chinese or Korean name is a family and a given name, a Japanese one of four two of each.
    A single character names somebody only before an honorific.
    """
    if len(name) == 1:  # a part of many words
        return {name + title for title in HONORIFICS}
    is_full = re.fullmatch(f"{FULL_NAME}{{3,4}}", name) is not None
    return {name, name[:2], name[-2:]} if is_full else {name}


def longest_first(term: str) -> tuple[bool, int, str]:
    """Sort key of terms by how much they say; long texts have numbers and ids in abundance."""
    return DIGIT.search(term) is not None, -len(term), term

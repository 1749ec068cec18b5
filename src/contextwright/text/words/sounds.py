"""Sounds: what a name has in common in two scripts, such as Oleksandr and Олександр.

A name in Latin letters is compared with those in other scripts, by its consonants, because vowels
are spelled in many ways (Mohammed, Muhammad) or not at all (محمد). A name of fewer than three
consonants is compared with its vowels. Chinese and Japanese are left out: their characters have
several readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

__all__ = ["is_said_as_name", "sounds_alike", "sounds_of"]

LATIN, OTHERS = "\ue001l", "\ue001o"
"""Prefixes of the sounds of a name in Latin letters and in other scripts; no text has them."""
SHORTEST, LONGEST = 3, 30
"""Characters of a name."""
CONSONANTS, CERTAIN = 3, 5
"""Minimum consonants that tell names apart, and words that are not written as names."""

SPELLED = """
shch SC sch S tch C sh S chh C ch C zh z kh h gh h ph f th t bh b dh d dzh j dj j jh j ck k qu k
tz ts ce se ci si cy si oo u ee i c k q k x ks y i g h w v ł l ß s
b b d d f f h h j j k k l l m m n n p p r r s s t t v v z z a a e e i i o o u u
дж j а a б b в v г h ґ h д d е e є e ж z з z и i і i ї i й i к k л l м m н n о o п p р r с s т t
у u ў v ф f х h ц ts ч C ш S щ SC ы i э e ю u я a ё o ј i љ l њ n ћ C ђ j џ j
μπ b ντ d γκ h ου u α a β v γ h δ d ε e ζ z η i θ t ι i κ k λ l μ m ν n ξ ks ο o π p ρ r σ s ς s
τ t υ i φ f χ h ψ ps ω o
ب b ت t ث t ج j ح h خ h د d ذ d ر r ز z س s ش S ص s ض d ط t ظ z غ h ف f ق k ك k ل l م m ن n ه h
پ p چ C ژ z گ h ک k ہ h ھ h ٹ t ڈ d ڑ r ں n
क k ख h ग h घ h च C छ C ज j झ j ट t ठ t ड d ढ d ण n त t थ t द d ध d न n प p फ f ब b भ b म m य i
र r ल l व v श S ष S स s ह h ङ n ञ n ं n ँ n अ a आ a इ i ई i उ u ऊ u ए e ऐ e ओ o औ o
ा a ि i ी i ु u ू u े e ै e ो o ौ o
"""
"""How letters sound: C is ch, S is sh. What is missing is not heard."""

VOWELS = re.compile("[aeiou]+")
DOUBLE = re.compile(r"(.)\1+")
GLIDE = re.compile("i(?=[aeou])|(?<=[aeou])i")
SILENT = re.compile("(?<=[aeiouy])h$|(?<=.)\u0647$")
"""A letter that is not heard: Sarah, عبدالله."""
INHERENT = re.compile("(?<=[\u0915-\u0939])(?=[\u0905-\u0939\u0901-\u0903])")
"""Where Hindi has an a that is not written."""
CASE = re.compile("(?:[ое]м|[оеє]ві|[оеє][юй]|ам|ами|ях|ах|ями|ого|ому|ів|[\u03c2\u03c3])$")
PARTICLE = re.compile("^[وف]?(?:[بك]?ال|لل)(?=..)|^[ولبكف](?=...)")
"""What may come behind or before a name; without it, it has other sounds as well."""


def is_said_as_name(word: str) -> bool:
    """Whether a word, as it is written, may be a name; in scripts without capitals any may."""
    first = word[:1]
    if "\u0600" <= first <= "\u06ff" or "\u0900" <= first <= "\u097f":
        return True
    return first.isupper() and not word.isupper()


def sounds_of(word: str) -> frozenset[str]:
    """Return the sounds by which a name in small letters is found in other scripts."""
    prefix = LATIN if is_latin(word) else OTHERS
    return frozenset(prefix + sound for sound in heard(word))


def sounds_alike(word: str, *, is_name: bool) -> frozenset[str]:
    """Return the sounds of the names, in other scripts, that a word of a question may mean.

    A word that is not written as a name must have more consonants, because names are few.
    """
    prefix = OTHERS if is_latin(word) else LATIN
    sounds = (sound for sound in heard(word) if is_name or is_certain(sound))
    return frozenset(prefix + sound for sound in sounds)


def is_certain(sound: str) -> bool:
    """Whether a sound has enough consonants that few words share it."""
    return len(sound) >= CERTAIN and not VOWELS.search(sound)


def is_latin(word: str) -> bool:
    """Whether a word is in Latin letters."""
    return word[:1] < "\u0370"


@lru_cache(32_768)
def heard(word: str) -> frozenset[str]:
    """Return the sounds of a word; none if it is too short or too long for a name."""
    if not SHORTEST <= len(word) <= LONGEST:
        return frozenset()
    return frozenset(sound for form in forms_of(word) if (sound := sound_of(form)))


def forms_of(word: str) -> Iterator[str]:
    """Yield a word, and what is left of it without a case or a particle."""
    yield word
    if is_latin(word):
        if "w" in word:
            yield word.replace("w", "u")  # as Arabic has it: مروان, Marwan
        return
    for pattern in (CASE, PARTICLE):
        bare = pattern.sub("", word)
        if bare != word and len(bare) >= SHORTEST:
            yield bare


def sound_of(word: str) -> str:
    """Return the consonants of a word, or all of its sounds but the last vowels; or nothing."""
    sounds, letters = table()
    plain = unicodedata.normalize("NFD", INHERENT.sub("अ", SILENT.sub("", word)))
    said = letters.sub(lambda found: sounds.get(found[0], ""), plain)
    consonants = DOUBLE.sub(r"\1", VOWELS.sub("", said))
    if len(consonants) >= CONSONANTS:
        return consonants
    said = GLIDE.sub("", DOUBLE.sub(r"\1", said)).rstrip("aeiou")
    return said if len(said) > 1 and VOWELS.search(said) else ""


@cache
def table() -> tuple[dict[str, str], re.Pattern[str]]:
    """Return how letters sound, and the pattern that splits a word into them and other ones."""
    words = SPELLED.split()
    sounds: dict[str, str] = dict(zip(words[::2], words[1::2], strict=True))
    longest = sorted((letters for letters in sounds if len(letters) > 1), key=len, reverse=True)
    return sounds, re.compile("|".join([*longest, "(?s:.)"]))

"""How often two forms of a word have one stem, and how often two words do.

    uv run --with wordfreq --with pymorphy3 --with pymorphy3-dicts-uk \
        python -m benchmarks.retrieval.stems [--language uk] [--show 20]

The forms are those among the 40,000 most frequent words of a language (12,000 of Arabic, in five
minutes), and what belongs together is what a morphological dictionary says: pymorphy3 for Ukrainian
and Russian, qalsadi for Arabic, simplemma for English. The words are divided
into two halves: look at what is wrong in the first (`--show`) when you change a rule, and judge the
change by the second.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from typing import Any

from contextwright.text.stems import stemmer
from contextwright.text.terms import spelled

NAMES = {"uk": "ukrainian", "ru": "russian", "ar": "arabic", "en": "english"}
KINDS = {"NOUN": "nouns", "ADJF": "adjectives", "VERB": "verbs", "INFN": "verbs", "GRND": "verbs"}
FREQUENT = {"uk": 40_000, "ru": 40_000, "ar": 12_000, "en": 40_000}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--language", choices=NAMES, default="uk")
    parser.add_argument("--show", type=int, default=0, help="frequent words with several stems")
    options = parser.parse_args()
    words = words_of(options.language)
    stem = stemmer(NAMES[options.language])
    for half in (0, 1):
        some = {
            word: forms for word, forms in words.items() if zlib.crc32(word[1].encode()) % 2 == half
        }
        agreed: dict[str, list[float]] = defaultdict(list)
        for (kind, _), forms in some.items():
            pairs = [stem(one) == stem(other) for one, other in combinations(forms, 2)]
            if pairs:
                agreed[kind].append(sum(pairs) / len(pairs))
        shares = ", ".join(
            f"{kind} {100 * sum(one) / len(one):.1f} % ({len(one)})"
            for kind, one in sorted(agreed.items())
        )
        print(f"half {half}: forms with one stem: {shares}")
        print(f"        words that share one: {shared(some, stem):.2f}")
        if half == 0:
            broken = [forms for forms in some.values() if len(set(map(stem, forms))) > 1]
            for forms in broken[: options.show]:
                print("  ", ", ".join(f"{form} → {stem(form)}" for form in forms))
    return 0


def words_of(language: str) -> dict[tuple[str, str], list[str]]:
    """The forms of frequent words, by kind and dictionary form, the most frequent first."""
    import wordfreq  # pyright: ignore[reportMissingImports]

    read = dictionary(language)
    words: dict[tuple[str, str], list[str]] = defaultdict(list)
    for form in wordfreq.top_n_list(language, FREQUENT[language]):
        kind, lemma = read(form) if len(form) > 2 else ("", "")
        simple = spelled(form)
        if kind and simple not in words[kind, lemma]:
            words[kind, lemma].append(simple)
    return words


def dictionary(language: str) -> Callable[[str], tuple[str, str]]:
    """What a dictionary says of a form: the kind of word, empty if unknown, and the word."""
    if language == "en":
        import simplemma  # pyright: ignore[reportMissingImports]

        # Terms are made of words without an apostrophe.
        return lambda form: (
            "words" if form.isalpha() else "",
            simplemma.lemmatize(form, lang="en"),
        )
    if language == "ar":
        from qalsadi.lemmatizer import Lemmatizer  # pyright: ignore[reportMissingImports]

        lemmatizer = Lemmatizer()

        def read_arabic(form: str) -> tuple[str, str]:
            lemma, kind = lemmatizer.lemmatize(form, return_pos=True)
            return (f"{kind}s" if kind in ("noun", "verb") and lemma else "", lemma)

        return read_arabic
    import pymorphy3  # pyright: ignore[reportMissingImports]

    analyzer = pymorphy3.MorphAnalyzer(lang=language)

    def read(form: str) -> tuple[str, str]:
        found = analyzer.parse(form)[0]
        return (KINDS.get(str(found.tag.POS), "") if found.is_known else "", found.normal_form)

    return read


def shared(words: dict[tuple[str, str], list[str]], stem: Any) -> float:
    """The pairs of words that have a stem in common, for each word."""
    having: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for word, forms in words.items():
        for form in forms:
            having[stem(form)].add(word)
    return sum(len(some) * (len(some) - 1) / 2 for some in having.values()) / len(words)


if __name__ == "__main__":
    sys.exit(main())

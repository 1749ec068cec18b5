"""Words by which speakers mean themselves, or the person they talk to."""

from __future__ import annotations

import re
from collections.abc import Set

from contextwright.text.terms import plain

__all__ = ["addresses_somebody", "means_speaker", "means_speaker_alone"]

ONE = frozenset(
    map(
        plain,
        """
i my mine myself
я мене мною мій моя моє мої меня мной мой моё мои
ich mich mein meine meinem meinen meiner
yo mi mí mis
je moi mon ma mes
أنا मैं मेरा मेरी मेरे
""".split(),
    )
)
TO_ONE = frozenset(map(plain, "me мені мне mir मुझे".split()))
"""Mostly in a request, "tell me", which is about anybody."""
SEVERAL = frozenset(
    map(
        plain,
        """
we us our ours
ми нас нам наш мы
wir uns unser unsere
nosotros nosotras nuestra nuestro nuestras nuestros
nous notre nos
نحن हम हमारा हमारी हमारे
""".split(),
    )
)
FIRST = ONE | TO_ONE | SEVERAL
SECOND = frozenset(
    map(
        plain,
        """
you your yours yourself
ти тебе тобі тобою твій твоя твоє твої ви вас вам вами ваш ваша ваше ваші
ты тебя тебе тобой твой твоя твоё твои вы вами ваша ваши
du dich dir dein deine deinem deinen deiner euch euer eure
tú tu tus ti usted ustedes vosotros vuestra vuestro
toi ton ta tes vous votre vos
أنت أنتم तुम तुम्हें तुम्हारा तुम्हारी तुम्हारे आप आपका आपकी आपके
""".split(),
    )
)
HAN_FIRST, HAN_SECOND = re.compile("[我私僕俺]"), re.compile("[你您妳]|あなた")
HAN_SEVERAL = re.compile("[我私僕俺](?:们|們|たち|達|ら)")


def means_speaker(words: Set[str], text: str) -> bool:
    """Whether a text says "I" or "we".

    Args:
        words: its words without case and accents.
        text: the whole text, for scripts without spaces.
    """
    return not FIRST.isdisjoint(words) or HAN_FIRST.search(text) is not None


def means_speaker_alone(words: Set[str], text: str) -> bool:
    """Whether a text is about its speaker alone: it says "I" or "my", not just "me", nor "we".

    The arguments are those of `means_speaker`.
    """
    if not SEVERAL.isdisjoint(words) or HAN_SEVERAL.search(text) is not None:
        return False
    return not ONE.isdisjoint(words) or HAN_FIRST.search(text) is not None


def addresses_somebody(words: Set[str], text: str) -> bool:
    """Whether a text says "you"; the arguments are those of `means_speaker`."""
    return not SECOND.isdisjoint(words) or HAN_SECOND.search(text) is not None

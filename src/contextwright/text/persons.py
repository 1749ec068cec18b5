"""Words by which speakers mean themselves, or the person they talk to."""

from __future__ import annotations

import re
from collections.abc import Set

from contextwright.text.terms import plain

__all__ = ["addresses_somebody", "means_speaker"]

FIRST = frozenset(
    map(
        plain,
        """
i me my mine myself we us our ours
я мене мені мною мій моя моє мої ми нас нам наш меня мне мной мой моё мои мы
ich mich mir mein meine meinem meinen meiner wir uns unser unsere
yo mi mí mis nosotros nosotras nuestra nuestro nuestras nuestros
je moi mon ma mes nous notre nos
أنا نحن मैं मुझे मेरा मेरी मेरे हम हमारा हमारी हमारे
""".split(),
    )
)
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


def means_speaker(words: Set[str], text: str) -> bool:
    """Whether a text says "I" or "we".

    Args:
        words: its words without case and accents.
        text: the whole text, for scripts without spaces.
    """
    return not FIRST.isdisjoint(words) or HAN_FIRST.search(text) is not None


def addresses_somebody(words: Set[str], text: str) -> bool:
    """Whether a text says "you"; the arguments are those of `means_speaker`."""
    return not SECOND.isdisjoint(words) or HAN_SECOND.search(text) is not None

"""English and Ukrainian phrases that announce a topic, greetings, and filler words.

Other languages are segmented without them.
"""

from __future__ import annotations

import re
from itertools import islice

__all__ = ["FILLER", "GREETING", "announces_topic"]

PIECE = re.compile(r"[.!?…;。！？\r\n]+")
WORD = re.compile(r"\w+")
MAX_SEARCHED_CHARS = 2_000
"""Maximum characters of a message that are searched."""

# `how about`, `what about`, `а зараз` are not here, because they mostly stay with the topic.
TOPIC_CHANGES = frozenset(
    tuple(WORD.findall(phrase))
    for phrase in """
    by the way; btw; anyway; anyways; speaking of; on another note; on a different note;
    on a side note; changing the subject; change of subject; let s change the subject;
    to change the subject; let s talk about; let us talk about; moving on; off topic;
    new topic; different topic; another topic; before i forget; unrelated;
    до речі; між іншим; кстаті; кстати; давай поговоримо про; давайте поговоримо про;
    поговоримо про; давай про інше; змінімо тему; змінимо тему; давай змінимо тему;
    давайте змінимо тему; інша тема; нова тема; на іншу тему; не по темі; офтоп;
    тепер про; поки не забув; поки не забула
    """.split(";")
)
OPENERS = frozenset("oh so and well but ok okay hey ах ой ну а але так і й о".split())
"""Words that may come before a phrase without changing it: `Oh, by the way`."""
MAX_PHRASE_WORDS = max(len(phrase) for phrase in TOPIC_CHANGES) + 1

GREETING = re.compile(
    r"\b(?:good (?:morning|afternoon|evening|night|day)|how(?: a|')re you(?: doing)?|"
    r"добр(?:ий|ого|ої) (?:ранок|ранку|день|дня|вечір|вечора|ночі)|як справи)\b",
    re.IGNORECASE,
)

FILLER = frozenset(
    """
    about above absolutely actually after again against ages almost already also although always
    amazing another anyone anything anyway aren around asked away awesome back basically beautiful
    because been before being below best better between both bring came cannot come comes coming
    cool could couldn course currently definitely didn difference different does doesn doing done
    down during each either else enough especially even ever every everyone everything exactly
    example excited exciting fantastic favorite favourite feel feeling feels felt finally find first
    forward found from full getting give given gives giving glad goes going gone gonna good gotta
    great guess guys hadn haha happen happened happy hard hasn have haven having hear heard hello
    help helped helps here hers herself himself hope hoping idea important interesting into isn
    itself just keep keeps kept kind kinda knew know known knows last lately later least left less
    like liked likes literally little long look looked looking looks lots love loved loves made
    mainly make makes making many maybe mean means might mine more most much must myself need needed
    needs never nice nope nothing often okay once ones only onto other others ours ourselves over
    people perfect perhaps place please pretty probably quite rather really recently remember right
    said same saying says seem seems seen shall she should shouldn show since some someone something
    sometimes soon sorry sort sound sounds special start started still stuff such super sure take
    taken takes taking talk talked talking tell than thank thanks that their theirs them themselves
    then there these they thing things think thinking this those though thought through time times
    today together told tomorrow tonight took totally tried true truly trying until upon used using
    usually very wait wanna want wanted wants wasn well went were weren what when where whether
    which while whoa whole whom whose will wish with within without woke won wonderful wondering
    work would wouldn wow yeah year years yesterday your yours yourself yup
    are bye cheers goodbye greetings hey how welcome you

    адже але ами багато без би була були було бути вам вами вас ваш ваша ваше весь вже вийшло вона
    вони воно все всі вчора від він далі дати день дещо для добре довго дуже думаю ж завжди завтра
    зараз зате звідки звідси знаю знаєш знов знову зі йде його йому каже кажу казав казала коли
    краще крім куди лише майже маю мене мені ми мною мого може можна моя моє мої на навіть навіщо
    надто нам нами нас наш наша наше не нема немає ним ними них ну ніколи нічого один одна однак
    одне ось отже перед по поки потрібно потім про просто під після раз разом раптом сам сама саме
    само самі своя своє свої свій себе собі справді сьогодні та так така таке такий такі там твоя
    твоє твій те тебе теж тепер ти тим тих то тобою тобі того тоді той тому треба трохи туди тут
    тільки хоч хоча хочеш хочу хто це цей цього цьому ця ці чи чим чого чому чудово що щоб щодо щось
    як яка якби яке який якийсь якось якщо які
    бувай вітання вітаю добридень дякую привіт
    """.split()
)
"""Words too common to be a tag."""


def announces_topic(text: str) -> bool:
    """Whether any sentence begins with a phrase that announces another topic.

    Only whole words at the start count, unlike in `I'd do it anyway` and `bypass`.
    """
    for piece in PIECE.split(text[:MAX_SEARCHED_CHARS].casefold()):
        words = [match[0] for match in islice(WORD.finditer(piece), MAX_PHRASE_WORDS)]
        if words and words[0] in OPENERS:
            words = words[1:]
        if any(tuple(words[:length]) in TOPIC_CHANGES for length in range(1, len(words) + 1)):
            return True
    return False

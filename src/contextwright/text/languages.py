"""Function words of languages: what a text is written in, and which of its words say little.

Lists of stop words that libraries have contain words such as "life" and "computer", which people do
search for; these are the articles, pronouns, prepositions, auxiliaries and question words alone.
"""

from __future__ import annotations

from collections.abc import Collection, Set

__all__ = ["COMMON_PHRASES", "FUNCTION_WORDS", "LATIN", "cyrillic_language", "latin_language"]

FUNCTION_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "english": """
a about after again all am an and any are aren as at be because been before being but by can could
d did didn do does doesn doing don done for from had has have having he her here hers him his how i
if in into is isn it its just ll m may me might mine more most must my no not of on only or other
our ours over own re s same shall she should so some such t than that the their theirs them then
there these they this those to too us ve very was wasn we were what when where which who whom whose
why will with won would yes you your yours""",
        "ukrainian": """
а аби або адже але б без би бо був була були було бути в вам вас ваш вже ви від він вона вони воно
все всі де для до є же з за зі й його її їх і із їй їм коли кого кому ким куди ми мене мені мій моя
моє мої на навіщо нам нас наш не ні під по про при та так такий там те ти тим то тобі той тому тут
у хто це цей ці чи чий чия чого чому що щоб я як яка який які якого яку яких яке якому якій
скільки твій твоя твоє твої неї нього них ній собі себе тебе""",
        "russian": """
а без бы был была были было быть в вам вас ваш во вот вы где да для до его ее ей ему если есть еще
ещё её ж же за зачем и из или им их к как какая какие какого какое какой каком каких ко когда кого
кому которая которые который кто куда ли мне меня мной мои мой моя моё мы на над нам нас наш не него
нее ней нет неё ни них но о об он она они оно от по под почему при про с себе себя сколько со
так такой там твои твой твоя тебе тебя то тоже той том тот ты у уже чего чей чем что чтобы чья эта
эти это этот я""",
        "german": """
aber als am an auch auf aus bei beim bin bis bist da dann das dass dein deine dem den der des dich
die dies diese diesem diesen dieser dieses dir doch du durch ein eine einem einen einer eines er es
euch euer eure für gegen hab habe haben habt hast hat hatte hatten ich ihm ihn ihnen ihr ihre ihrem
ihren ihrer im in ins ist ja kann kein keine keinen man mein meine meinem meinen meiner mich mir
mit nach nicht nichts noch nun nur ob oder ohne sehr seid sein seine seinem seinen seiner seit sich
sie sind so über um und uns unser unsere unter viel vom von vor wann war waren warum was weil
welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wir wird wo woher wohin
worden wurde wurden zu zum zur""",
        "spanish": """
a al algo alguien algún alguna algunos ante aquel aquella como cómo con cual cuál cuáles cuando
cuándo cuanto cuánto cuánta cuántos cuántas de del desde donde dónde e el él ella ellas ellos en
entre era eran eres es esa esas ese eso esos esta está están estaba este esto estos estoy fue
fueron ha había habían han has hasta hay he hemos la las le les lo los más me mi mis mí muy ni no
nos nosotros nuestra nuestro nuestros o os para pero por porque qué que quien quién quiénes se ser
si sí sin sobre son soy su sus también te tenéis tiene todo todos toda todas tu tú tus
un una unas uno unos y ya yo""",
        "french": """
à ai as au aussi aux avait avec avez avons c ce cela ces cet cette chez comme comment d dans de
des donc dont du elle elles en es est et étais était été être eu fait fut il ils j je l la le les
leur leurs lui m ma mais me mes moi mon n ne ni nos notre nous on ont ou où par pas plus pour
pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te
tes toi ton très tu un une vos votre vous y""",
        "italian": """
a ad agli ai al alla alle anche c che chi ci come con cosa così cui da dal dalla dei del della
delle di dove e è era erano essere fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma
me mi mia mie miei mio ne nei nel nella nelle noi non nostra nostro o per perché più qual quale
quali quando quanto quanta quanti quante questa queste questi questo se sei si sia siamo sono su
sua sue sul sulla suo suoi ti tra tu tua tuo un una uno vi voi""",
        "portuguese": """
a ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse
esta está estão estava este eu foi foram há isso isto já lhe mais mas me meu meus minha minhas
muito na nas não nem no nos nós nossa nosso o onde os ou para pela pelo por porque quais qual
quando quanto quantos quantas que quê quem se sem ser seu seus só são sua suas também te tem tenho
ter teu tua tu um uma umas uns você vocês""",
        "dutch": """
aan al als bij daar dan dat de deze die dit door een en er ge geen had heb hebben heeft hem het hier
hij hoe hun ik in is je jij jouw kan kon maar me met mij mijn na naar niet nog nu of om omdat onder
ons onze ook op over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren
was wat we wel welk welke werd wie wij wordt ze zich zij zijn zo zou""",
        "swedish": """
alla att av blev bli den det dig din ditt dina där då efter ej eller en er ett från för ha hade
han har hon honom hur här i icke in inte jag kan man med men mig min mitt mina mot när någon något
och oss på sig sin som så till under upp ut vad var varför vem vi vid vilken vilket vår än är""",
        "polish": """
a ale bo być był była było były by ci co czy dla do gdy gdzie go i ich ile im ja jak jaka jaki jakie
jego jej jest jestem już kiedy kto która które który ma mam mi mnie mój moja moje mu my na nam nas
nasz nasza nie nim o od on ona one oni ono po pod przez się są ta tak także tam te tego tej ten też
to twój twoja ty tym u w we wy z za ze że""",
        "turkish": """
acaba ama ben beni benim bir biri biz bizim bu bunu çok da daha de değil diye en gibi hangi hangisi
hem her hiç için ile ise kaç kim kime kimi ki mi mı mu mü nasıl ne neden nerede nereden nereye niye
o olan olarak oldu olur onlar onu onun sen seni senin siz sizin şu ve veya var ya yok""",
        "arabic": """
في من الي علي عن مع هل ما ماذا متي اين كيف كم اي هو هي هم انا نحن انت انتم لا لم لن ليس كان كانت كنت
هذا هذه ذلك تلك التي الذي الذين كل بعد قبل عند منذ قد ان انه لان او و ثم بين بينكم له لها لهم لي لك
لنا لديك لدي فيه فيها منه منها عليه عليها لماذا ايضا حين""",
        "hindi": """
के की का को में से ने पर है हैं हूं था थी थे थीं हो होता होती होते हुआ हुई हुए और या कि जो यह वह ये
वे मैं हम तुम आप मुझे मेरा मेरी मेरे हमारा हमारी हमारे तुम्हारा तुम्हारी तुम्हारे अपना अपनी अपने उसका
उसकी उसके उसने उसे मैंने हमने किसने किसे किसके किस किन कौन क्या कब कहां कैसे कैसा कैसी क्यों कितना
कितने कितनी नहीं भी ही तो अब कोई कुछ एक सा सी वाला वाली वाले रहा रही रहे गया गई गए कर लिए साथ तक
पास""",
    }.items()
}

COMMON_PHRASES = """
什么 什麼 哪里 哪裡 哪儿 哪个 哪家 哪天 谁 誰 怎么 怎麼 怎么样 怎麼樣 为什么 為什麼 多少 多少钱 几个
几号 什么时候 什麼時候 我们 我們 你们 你們 他们 他們 我的 你的 他的 她的 是什么 是谁 在哪里 在哪裡
这个 那个 一个 这些 那些 自己 没有 沒有 有没有 有沒有 是不是 不是 还是 還是 就是 可以 能不能
会不会 會不會 一下 了吗 了嗎 因为 因為 所以 但是 如果 虽然 雖然 已经 已經 的时候 的時候
は が を に で と も の か です ですか でした ます ますか ました ましたか ません ている ています
どこ どんな どの いつ だれ 何 なに なぜ いくら いくらですか どう どうでしたか これ それ あれ この
その から まで には では とは ので のは のはいつ のは誰 はどこ はなぜ はいつ
さん さんは さんが さんの さんに さんを さんと さんも くん ちゃん たち ない ないの なかった れない
られる られない する して した しました ている ていた てください たい こと もの ため よう そう けど
なる なった なりました ある あった いる いた
""".split()
"""The same of Chinese and Japanese, which have no spaces between words."""

LATIN = tuple(
    "english german spanish french italian portuguese dutch swedish polish turkish".split()
)
"""Languages in Latin letters."""
ENGLISH = FUNCTION_WORDS["english"]
AMBIGUOUS = frozenset(
    """come das del den der des die dig din du era haar had hans hat hem her here las los man men
    min mina mine mot moi mon one over par pas per pode por que ser sin son sui sur ten ton upp
    van var via vid von want war""".split()
)
"""Foreign function words that are English words too, or parts of names."""
FOREIGN = frozenset[str]().union(*(FUNCTION_WORDS[name] for name in LATIN)) - ENGLISH

UKRAINIAN_LETTERS = frozenset("іїєґ")


def latin_language(words: Set[str]) -> str:
    """Return the language with more function words among these than English; or English.

    One more word decides only if it is no English word or part of a name, or beside a letter that
    English lacks.
    """
    if FOREIGN.isdisjoint(words):
        return "english"
    counts = {name: len(words & FUNCTION_WORDS[name]) for name in LATIN}
    best = max(counts, key=lambda name: counts[name])  # of equal ones the first
    lead = counts[best] - counts["english"]
    if lead == 1 and all(map(str.isascii, words)):
        telling = (words & FUNCTION_WORDS[best]) - ENGLISH - AMBIGUOUS
        lead = any(len(word) > 2 for word in telling)
    return best if lead else "english"


def cyrillic_language(words: Collection[str]) -> str:
    """Return `ukrainian` or `russian`; letters decide, then function words."""
    if any(not UKRAINIAN_LETTERS.isdisjoint(word) for word in words):
        return "ukrainian"
    ukrainian, russian = (
        sum(word in FUNCTION_WORDS[name] for word in words) for name in ("ukrainian", "russian")
    )
    return "ukrainian" if ukrainian > russian else "russian"

"""Times in the languages beside English, Ukrainian and Chinese: tables, and what holds in each."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recall.dates.reading import read, rows

from contextwright.recall.dates.words import folded, tables, words_of

RUSSIAN = """
Что мы делали вчера? = 2023-11-14
позавчера вечером = 2023-11-13 17..2023-11-14 00
сегодня утром = 2023-11-15 05..2023-11-15 12
на прошлой неделе = 2023-11-06..2023-11-12
на этой неделе = 2023-11-13..2023-11-19
в прошлом месяце = 2023-10-01..2023-10-31
в прошлом году = 2022-01-01..2022-12-31
на позапрошлой неделе = 2023-10-30..2023-11-05
в мае позапрошлого года = 2021-05-01..2021-05-31
в марте = 2023-03-01..2023-03-31 ~
Что было в мае 2022 года? = 2022-05-01..2022-05-31
5 мая = 2023-05-05 ~
5-го мая 2021 = 2021-05-05
первого мая 2021 года = 2021-05-01
две недели назад = 2023-10-30..2023-11-05
неделю назад = 2023-11-06..2023-11-12
пять лет назад = 2018-01-01..2018-12-31
несколько дней назад = 2023-11-09..2023-11-13 ?
за последние две недели = 2023-10-30..2023-11-15
в пятницу = 2023-11-10 ~
на прошлых выходных = 2023-11-11..2023-11-12 ~
в прошлую среду = 2023-11-08 ~
прошлым летом = 2023-06-01..2023-08-31 ~
с марта по май 2022 = 2022-03-01..2022-05-31
после 5 мая 2023 = 2023-05-06..
"""

GERMAN = """
Was machte Anna gestern? = 2023-11-14
vorgestern = 2023-11-13
letztes Wochenende = 2023-11-11..2023-11-12 ~
gestern Abend = 2023-11-14 17..2023-11-15 00
heute Morgen = 2023-11-15 05..2023-11-15 12
letzte Nacht = 2023-11-14 20..2023-11-15 06
letzte Woche = 2023-11-06..2023-11-12
in der vergangenen Woche = 2023-11-06..2023-11-12
Was haben wir diese Woche gemacht? = 2023-11-13..2023-11-19
letzten Monat = 2023-10-01..2023-10-31
letztes Jahr = 2022-01-01..2022-12-31
voriges Jahr = 2022-01-01..2022-12-31
vorletzte Woche = 2023-10-30..2023-11-05
Montag Abend = 2023-11-13 ~
5. Okt. 2021 = 2021-10-05
im März = 2023-03-01..2023-03-31 ~
Mai 2022 = 2022-05-01..2022-05-31
am 5. Mai = 2023-05-05 ~
Was war am 5. Mai 2021? = 2021-05-05
am ersten Mai = 2023-05-01 ~
07.05.2023 = 2023-05-07
vor zwei Wochen = 2023-10-30..2023-11-05
vor einer Woche = 2023-11-06..2023-11-12
vor 3 Tagen = 2023-11-12
vor ein paar Tagen = 2023-11-12..2023-11-14 ?
in den letzten zwei Wochen = 2023-10-30..2023-11-15
am Freitag = 2023-11-10 ~
letzten Mittwoch = 2023-11-08 ~
letzte Woche Freitag = 2023-11-10
letzten Sommer = 2023-06-01..2023-08-31 ~
im Sommer 2021 = 2021-06-01..2021-08-31
im Jahr 2022 = 2022-01-01..2022-12-31
vom 3. bis 9. Juni = 2023-06-03..2023-06-09 ~
zwischen Mai und Juli 2022 = 2022-05-01..2022-07-31
vor dem 5. Mai 2021 = ..2021-05-04
seit März = 2023-03-01.. ~
"""

SPANISH = """
¿Qué hicimos ayer? = 2023-11-14
anteayer = 2023-11-13
antes de ayer = 2023-11-13
ayer por la tarde = 2023-11-14 12..2023-11-14 18
anoche = 2023-11-14 20..2023-11-15 06
la semana pasada = 2023-11-06..2023-11-12
esta semana = 2023-11-13..2023-11-19
el mes pasado = 2023-10-01..2023-10-31
el año pasado = 2022-01-01..2022-12-31
hace un mes = 2023-10-01..2023-10-31
la semana antepasada = 2023-10-30..2023-11-05
en mayo del año antepasado = 2021-05-01..2021-05-31
en marzo = 2023-03-01..2023-03-31 ~
en mayo de 2022 = 2022-05-01..2022-05-31
los lunes de mayo = 2023-05-01..2023-05-31 ~
en mayo del año pasado = 2022-05-01..2022-05-31
el 5 de mayo = 2023-05-05 ~
5 de mayo de 2021 = 2021-05-05
primero de mayo de 2021 = 2021-05-01
hace dos semanas = 2023-10-30..2023-11-05
¿Qué dijo hace una semana? = 2023-11-06..2023-11-12
hace tres días = 2023-11-12
hace unos días = 2023-11-09..2023-11-13 ?
en las últimas dos semanas = 2023-10-30..2023-11-15
el viernes = 2023-11-10 ~
el miércoles pasado = 2023-11-08 ~
el verano pasado = 2023-06-01..2023-08-31 ~
en el verano de 2021 = 2021-06-01..2021-08-31
en el año 2022 = 2022-01-01..2022-12-31
del 3 al 9 de junio = 2023-06-03..2023-06-09 ~
antes del 5 de mayo de 2021 = ..2021-05-04
desde marzo = 2023-03-01.. ~
"""

FRENCH = """
Qu'est-ce qu'on a mangé hier ? = 2023-11-14
avant-hier = 2023-11-13
aujourd’hui = 2023-11-15
hier soir = 2023-11-14 17..2023-11-15 00
ce matin = 2023-11-15 05..2023-11-15 12
la nuit dernière = 2023-11-14 20..2023-11-15 06
la semaine dernière = 2023-11-06..2023-11-12
cette semaine = 2023-11-13..2023-11-19
le mois dernier = 2023-10-01..2023-10-31
l'année dernière = 2022-01-01..2022-12-31
l’an dernier = 2022-01-01..2022-12-31
en mars = 2023-03-01..2023-03-31 ~
au mois de mai = 2023-05-01..2023-05-31 ~
Qui est venu en mai 2022 ? = 2022-05-01..2022-05-31
le 5 mai = 2023-05-05 ~
le 1er mai 2021 = 2021-05-01
1er mai = 2023-05-01 ~
l'avant-dernière semaine = 2023-10-30..2023-11-05
5 févr. 2021 = 2021-02-05
il y a deux semaines = 2023-10-30..2023-11-05
il y a un an = 2022-01-01..2022-12-31
il y a trois jours = 2023-11-12
il y a quelques jours = 2023-11-09..2023-11-13 ?
les deux dernières semaines = 2023-10-30..2023-11-15
vendredi dernier = 2023-11-10 ~
mercredi dernier = 2023-11-08 ~
l'été dernier = 2023-06-01..2023-08-31 ~
pendant l'été 2021 = 2021-06-01..2021-08-31
en 2022 = 2022-01-01..2022-12-31
du 3 au 9 juin = 2023-06-03..2023-06-09 ~
avant le 5 mai 2021 = ..2021-05-04
depuis mars = 2023-03-01.. ~
"""

ARABIC = """
ماذا فعلنا أمس؟ = 2023-11-14
أول أمس = 2023-11-13
أمس في المساء = 2023-11-14 17..2023-11-15 00
هذا الصباح = 2023-11-15 05..2023-11-15 12
الليلة الماضية = 2023-11-14 20..2023-11-15 06
الأسبوع الماضي = 2023-11-06..2023-11-12
هذا الأسبوع = 2023-11-13..2023-11-19
في الشهر الماضي = 2023-10-01..2023-10-31
العام الماضي = 2022-01-01..2022-12-31
الأسبوع قبل الماضي = 2023-10-30..2023-11-05
عطلة نهاية الأسبوع الماضية = 2023-11-11..2023-11-12 ~
في بداية 2021 = 2021-01-01..2021-12-31
في نهاية مارس = 2023-03-01..2023-03-31 ~
في صيف 2021 = 2021-06-01..2021-08-31
قال ربيع = 
في مارس = 2023-03-01..2023-03-31 ~
في شهر مايو = 2023-05-01..2023-05-31 ~
مايو 2022 = 2022-05-01..2022-05-31
في تشرين الثاني 2022 = 2022-11-01..2022-11-30
5 مايو = 2023-05-05 ~
٥ مايو ٢٠٢١ = 2021-05-05
قبل أسبوعين = 2023-10-30..2023-11-05
منذ أسبوع = 2023-11-06..2023-11-12
قبل ثلاثة أيام = 2023-11-12
منذ بضعة أيام = 2023-11-09..2023-11-13 ?
يوم الجمعة = 2023-11-10 ~
الأربعاء الماضي = 2023-11-08 ~
الصيف الماضي = 2023-06-01..2023-08-31 ~
في صيف = 2023-06-01..2023-08-31 ~
في عام 2022 = 2022-01-01..2022-12-31
قبل 5 مايو 2021 = ..2021-05-04
منذ مارس = 2023-03-01.. ~
"""

JAPANESE = """
昨日は何を食べましたか = 2023-11-14
一昨日 = 2023-11-13
おととい、どこにいましたか = 2023-11-13
昨日の夕方 = 2023-11-14 17..2023-11-15 00
今朝 = 2023-11-15 05..2023-11-15 12
昨夜 = 2023-11-14 20..2023-11-15 06
先週末 = 2023-11-11..2023-11-12 ~
先週 = 2023-11-06..2023-11-12
今週 = 2023-11-13..2023-11-19
先々週 = 2023-10-30..2023-11-05
先月 = 2023-10-01..2023-10-31
去年 = 2022-01-01..2022-12-31
昨年の夏 = 2022-06-01..2022-08-31
一月に何をしましたか = 2023-01-01..2023-01-31 ~
一月に三回行きました = 2023-01-01..2023-01-31 ?
二月に三回行きました = 2023-02-01..2023-02-28 ~
3月に何をしましたか = 2023-03-01..2023-03-31 ~
2022年5月 = 2022-05-01..2022-05-31
5月5日に会いました = 2023-05-05 ~
2021年5月5日 = 2021-05-05
2週間前 = 2023-10-30..2023-11-05
三日前 = 2023-11-12
二十日前 = 2023-10-26
二〇二一年五月 = 2021-05-01..2021-05-31
2か月前 = 2023-09-01..2023-09-30
五年前 = 2018-01-01..2018-12-31
数日前 = 2023-11-09..2023-11-13 ?
金曜日に = 2023-11-10 ~
先週の金曜日 = 2023-11-10
5月から7月まで = 2023-05-01..2023-07-31 ~
2021年5月5日以降 = 2021-05-05..
2021年5月5日以前 = ..2021-05-04
"""

HINDI = """
कल हमने क्या खाया? = 2023-11-14
परसों = 2023-11-13
आज सुबह = 2023-11-15 05..2023-11-15 12
कल शाम = 2023-11-14 17..2023-11-15 00
पिछले हफ़्ते = 2023-11-06..2023-11-12
पिछले हफ्ते = 2023-11-06..2023-11-12
इस हफ़्ते = 2023-11-13..2023-11-19
पिछले महीने = 2023-10-01..2023-10-31
पिछले साल = 2022-01-01..2022-12-31
2021 के वसंत में = 2021-03-01..2021-05-31
2021 की शुरुआत में = 2021-01-01..2021-12-31
मार्च में = 2023-03-01..2023-03-31 ~
मई 2022 में क्या हुआ? = 2022-05-01..2022-05-31
5 मई को = 2023-05-05 ~
5 मई 2021 = 2021-05-05
दो हफ़्ते पहले = 2023-10-30..2023-11-05
एक हफ़्ते पहले = 2023-11-06..2023-11-12
तीन दिन पहले = 2023-11-12
कुछ दिन पहले = 2023-11-09..2023-11-13 ?
शुक्रवार को = 2023-11-10 ~
पिछले बुधवार को = 2023-11-08 ~
पिछली गर्मियों में = 2023-06-01..2023-08-31 ~
2022 में = 2022-01-01..2022-12-31
5 मई 2021 के बाद = 2021-05-06..
5 मई 2021 से पहले = ..2021-05-04
"""

NO_TIME = """
Wie geht es dem Jan?
Was ist hier los?
Ist hier jemand?
Wat deed je hier?
das morgen
nächste Woche
vor allem
Er hat August gesagt
einmal vor dem Haus
vor Tagen der Ruhe
¿Quién es Domingo Pérez?
la próxima semana
dos de once
hace calor
por la mañana
mañana
Il a été très content
la planète mars
la semaine prochaine
il y a du pain
demain
Qu'a changé depuis mon arrivée ?
окружающая среда
Марта сказала
на следующей неделе
тому назад
назад
الأسبوع القادم
قبل الأكل
منذ متى
来週
名前は何ですか
この前
अगले हफ़्ते
पहले बताओ
She was here hier
каждый понедельник
каждый год в мае
jeden Montag
jedes Jahr im Sommer
cada lunes
los lunes
todos los años en mayo
chaque lundi
chaque année en mai
كل يوم الاثنين
كل عام في مايو
毎週月曜日に何をしますか
毎年の春に
毎月5日に
日本の春
来年の春
हर सोमवार को
हर साल गर्मियों में
once upon two
позапрошлым летом
vorletzten Sommer
"""

ALL = RUSSIAN + GERMAN + SPANISH + FRENCH + ARABIC + JAPANESE + HINDI


@pytest.mark.parametrize(("phrase", "expected"), rows(ALL))
def test_what_a_phrase_says(phrase: str, expected: str) -> None:
    assert read(phrase) == expected


@pytest.mark.parametrize("phrase", NO_TIME.strip().splitlines())
def test_what_is_no_time(phrase: str) -> None:
    assert read(phrase) == read(phrase, None) == ""


SAME = """
{n} days ago | {n} дней назад | vor {n} Tagen | hace {n} días | il y a {n} jours | قبل {n} أيام | {n}日前 | {n} दिन पहले
{n} weeks ago | {n} недель назад | vor {n} Wochen | hace {n} semanas | il y a {n} semaines | منذ {n} أسابيع | {n}週間前 | {n} हफ़्ते पहले
{n} months ago | {n} месяцев назад | vor {n} Monaten | hace {n} meses | il y a {n} mois | قبل {n} أشهر | {n}か月前 | {n} महीने पहले
{n} years ago | {n} лет назад | vor {n} Jahren | hace {n} años | il y a {n} ans | قبل {n} سنوات | {n}年前 | {n} साल पहले
today | сегодня | heute | hoy | aujourd'hui | اليوم | 今日 | आज
yesterday | вчера | gestern | ayer | hier | أمس | 昨日 | कल
last week | на прошлой неделе | letzte Woche | la semana pasada | la semaine dernière | الأسبوع الماضي | 先週 | पिछले हफ़्ते
this month | в этом месяце | diesen Monat | este mes | ce mois | هذا الشهر | 今月 | इस महीने
last year | в прошлом году | letztes Jahr | el año pasado | l'année dernière | العام الماضي | 去年 | पिछले साल
half a year ago | полгода назад | vor einem halben Jahr | hace medio año | il y a une demi-année | منذ نصف سنة | 半年前 | आधे साल पहले
last week on Friday | на прошлой неделе в пятницу | letzte Woche am Freitag | el viernes de la semana pasada | vendredi de la semaine dernière | | 先週の金曜日 |
last summer | прошлым летом | letzten Sommer | el verano pasado | l'été dernier | الصيف الماضي | | पिछली गर्मियों में
on the {d} May | {d} мая | am {d}. Mai | el {d} de mayo | le {d} mai | {d} مايو | 5月{d}日 | {d} मई को
{d} March 2021 | {d} марта 2021 | {d}. März 2021 | {d} de marzo de 2021 | {d} mars 2021 | {d} مارس 2021 | 2021年3月{d}日 | {d} मार्च 2021
in 2021 | в 2021 году | im Jahr 2021 | en 2021 | en 2021 | في عام 2021 | 2021年に | 2021 में
"""  # noqa: E501
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize("phrases", SAME.strip().splitlines())
@given(now=MOMENTS, n=st.integers(2, 20), d=st.integers(1, 28))
def test_every_language_says_the_same_as_english(
    phrases: str, now: datetime, n: int, d: int
) -> None:
    english, *others = (phrase.strip().format(n=n, d=d) for phrase in phrases.split("|"))
    expected = read(english, now)
    assert expected
    for phrase in filter(None, others):
        assert read(phrase, now) == expected, phrase


@pytest.mark.parametrize("language", [None, *tables().languages])
def test_every_month_and_day_is_read(language: str | None) -> None:
    table = tables().languages[language] if language else tables().shared
    led = {"german": "am", "spanish": "el", "french": "le"}.get(language or "", "on")
    for number, row in enumerate(table["month"], 1):
        for word in row.split():
            month = word.lstrip("?").replace("_", " ")
            if "月" not in month:
                assert read(f"{led} 7 {month} 2021") == f"2021-{number:02}-07", month
    for number, row in enumerate(table["weekday"]):
        for word in row.replace("?", "").split():
            found = read(f"{led} {word}" if language else f"в {word}")
            assert found == f"2023-11-{13 + number if number < 3 else 6 + number:02} ~", word


@pytest.mark.parametrize("language", ["english", *tables().languages])
def test_letters_of_a_script_without_spaces_change_no_other_words(language: str) -> None:
    for phrase, _ in rows(ALL):
        words, starts = words_of(folded(phrase), language)
        others, places = words_of(folded(f"{phrase} 漢"), language)
        assert (others[:-1], places[:-1]) == (words, starts)

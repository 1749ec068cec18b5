"""Which span of time a question names: a table of phrases."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recall.dates.reading import NOW, read, rows

from contextwright.recall.dates.periods import periods

ENGLISH = """
7 May 2023 = 2023-05-07
the 7th of May 2023 = 2023-05-07
7th May, 2023 = 2023-05-07
May 7, 2023 = 2023-05-07
May 7th 2023 = 2023-05-07
may 7th of 2023 = 2023-05-07
Sunday, May 7, 2023 = 2023-05-07
the first of May 2021 = 2021-05-01
July the fourth, 2021 = 2021-07-04
2023-05-07 = 2023-05-07
2023/05/07 = 2023-05-07
2023.05.07 = 2023-05-07
2023-05-07T10:30:00Z = 2023-05-07
07.05.2023 = 2023-05-07
13/07/2023 = 2023-07-13
07/13/2023 = 2023-07-13
05/07/2023 = 2023-07-05 ?, 2023-05-07 ?
05/05/2023 = 2023-05-05
5/13/23 = 2023-05-13 ?
07.05.23 = 2023-05-07 ?
3-May-2023 = 2023-05-03
What did we do in May 2023? = 2023-05-01..2023-05-31
May of 2023 = 2023-05-01..2023-05-31
February 2024 = 2024-02-01..2024-02-29
in 2022-11 = 2022-11-01..2022-11-30
since 2022-03 = 2022-03-01..
from 2022-03 to 2022-05 = 2022-03-01..2022-05-31
in 03/2022 = 2022-03-01..2022-03-31
2022-03 = 2022-03-01..2022-03-31 ?
in 2011-12 = 2011-01-01..2011-12-31
in 2021-22 = 2021-01-01..2021-12-31
Sept 2022 = 2022-09-01..2022-09-30
in 2022 = 2022-01-01..2022-12-31
In 2022, may I ask? = 2022-01-01..2022-12-31
back in 2022 I said something = 2022-01-01..2022-12-31
in 2022 Alice moved = 2022-01-01..2022-12-31 ?
in May = 2023-05-01..2023-05-31 ~
in December = 2022-12-01..2022-12-31 ~
in November = 2023-11-01..2023-11-30 ~
last November = 2022-11-01..2022-11-30 ~
this March? = 2023-03-01..2023-03-31 ~
the July trip = 2023-07-01..2023-07-31 ?
in April and May = 2023-04-01..2023-04-30 ~, 2023-05-01..2023-05-31 ~
5 June = 2023-06-05 ~
Was it 5 May? = 2023-05-05 ~
on may 5 = 2023-05-05 ~
December 24 = 2022-12-24 ~
Oct. 5 = 2023-10-05 ~
Sept. 5, 2022 = 2022-09-05
What did Jan. say? = 
in mid-July = 2023-07-01..2023-07-31 ~
the late-May trip = 2023-05-01..2023-05-31 ~
29 February = 2020-02-29 ~
on the 7th = 2023-11-07 ~
On the 20th, what did she say? = 2023-10-20 ~
on the 31st = 2023-10-31 ~
What happened on the 5th of May? = 2023-05-05 ~
on the 5th of May 2021 = 2021-05-05
on the 24th December = 2022-12-24 ~
today = 2023-11-15
yesterday = 2023-11-14
yesterday's talk = 2023-11-14
the day before yesterday = 2023-11-13
this morning = 2023-11-15 05..2023-11-15 12
yesterday afternoon = 2023-11-14 12..2023-11-14 18
yesterday in the evening = 2023-11-14 17..2023-11-15 00
last night = 2023-11-14 20..2023-11-15 06
last week = 2023-11-06..2023-11-12
this week = 2023-11-13..2023-11-19
the week before last = 2023-10-30..2023-11-05
a fortnight ago = 2023-10-30..2023-11-05
a week ago = 2023-11-06..2023-11-12
two weeks ago = 2023-10-30..2023-11-05
3 days ago = 2023-11-12
100 days ago = 2023-08-07
a month ago = 2023-10-01..2023-10-31
half a year ago = 2023-04-01..2023-06-30 ?
last month = 2023-10-01..2023-10-31
this month = 2023-11-01..2023-11-30
eleven months ago = 2022-12-01..2022-12-31
last year = 2022-01-01..2022-12-31
this year = 2023-01-01..2023-12-31
five years ago = 2018-01-01..2018-12-31
a few days ago = 2023-11-09..2023-11-13 ?
a couple of weeks ago = 2023-10-23..2023-11-12 ?
several months ago = 2023-05-01..2023-09-30 ?
years ago = 2017-01-01..2021-12-31 ?
the other day = 2023-11-09..2023-11-14 ?
recently = 2023-10-16..2023-11-15 ?
in the last two weeks = 2023-10-30..2023-11-15
over the past few days = 2023-11-09..2023-11-15
on Monday = 2023-11-13 ~
on Wednesday = 2023-11-15 ~
Friday night = 2023-11-10 ~
last Wednesday = 2023-11-08 ~
last Friday = 2023-11-10 ~
last week on Tuesday = 2023-11-07
Tuesday last week = 2023-11-07
Friday of last week = 2023-11-10
on Monday of this week = 2023-11-13
on Monday last year = 2022-01-01..2022-12-31
last month on Friday = 2023-10-01..2023-10-31
last weekend = 2023-11-11..2023-11-12 ~
What did we do over the weekend? = 2023-11-11..2023-11-12 ?
the weekend before I moved = 2023-11-11..2023-11-12 ?
What was the Friday plan? = 2023-11-10 ?
last summer = 2023-06-01..2023-08-31 ~
last fall = 2022-09-01..2022-11-30 ~
last winter = 2022-12-01..2023-02-28 ~
this spring we met = 2023-03-01..2023-05-31 ~
in the summer of 2021 = 2021-06-01..2021-08-31
summer 2021 = 2021-06-01..2021-08-31
fall 2021 = 2021-09-01..2021-11-30
winter 2021 = 2021-12-01..2022-02-28 ~, 2020-12-01..2021-02-28 ~
summer last year = 2022-06-01..2022-08-31
What did we plan in the fall? = 2023-09-01..2023-11-30 ~
since the spring we met = 2023-03-01.. ~
in May of last year = 2022-05-01..2022-05-31
last year in May = 2022-05-01..2022-05-31
between May and July 2023 = 2023-05-01..2023-07-31
between November and March 2023 = 2022-11-01..2023-03-31
from November 2021 to March = 2021-11-01..2022-03-31
from May 2021 to 31 May = 2021-05-01..2021-05-31
from 7 May 2021 to 7 May = 2021-05-07
from 7 May 2021 to 6 May = 2021-05-07..2022-05-06
from June to August = 2023-06-01..2023-08-31 ~
from 3 to 9 June = 2023-06-03..2023-06-09 ~
June 3-9, 2022 = 2022-06-03..2022-06-09
3rd to 9th of June 2022 = 2022-06-03..2022-06-09
between 5 May 2023 and 7 June 2023 = 2023-05-05..2023-06-07
between 2019 and 2021 = 2019-01-01..2021-12-31
from Monday to yesterday = 2023-11-13..2023-11-14 ~
in May and in July = 2023-05-01..2023-05-31 ~, 2023-07-01..2023-07-31 ~
before 5 May = ..2023-05-04 ~
after 5 May 2023 = 2023-05-06..
since March = 2023-03-01.. ~
since last summer = 2023-06-01.. ~
after last week = 2023-11-13..
until 2020 = ..2020-12-31
by June 2021 = ..2021-06-30
the last week of May = 2023-05-01..2023-05-31 ~
every day in May = 2023-05-01..2023-05-31 ~
every Monday in May 2022 = 2022-05-01..2022-05-31
What did I do on 2023.10.1? = 2023-10-01
version 2023.10.1 = 2023-10-01 ?
v2023.10.1 = 2023-10-01 ?
What is new in the 2023.10.1 release? = 2023-10-01 ?
٧ May ٢٠٢٣ = 2023-05-07
7\u200f May\u200e 2023 = 2023-05-07
"""

UKRAINIAN = """
7 травня 2023 = 2023-05-07
7 травня 2023 року = 2023-05-07
7-го травня 2023 = 2023-05-07
першого травня 2022 = 2022-05-01
07.05.2023 р. = 2023-05-07
7 травня = 2023-05-07 ~
сьомого грудня = 2022-12-07 ~
7 числа = 2023-11-07 ~
у травні 2023 = 2023-05-01..2023-05-31
Що ми робили в травні? = 2023-05-01..2023-05-31 ~
у лютому = 2023-02-01..2023-02-28 ~
наприкінці грудня = 2022-12-01..2022-12-31 ~
травень 2021 року = 2021-05-01..2021-05-31
у 2022 році = 2022-01-01..2022-12-31
2022 року = 2022-01-01..2022-12-31
сьогодні = 2023-11-15
сьогодні вранці = 2023-11-15 05..2023-11-15 12
учора = 2023-11-14
Що Оля казала вчора ввечері? = 2023-11-14 17..2023-11-15 00
позавчора = 2023-11-13
минулого тижня = 2023-11-06..2023-11-12
на минулому тижні = 2023-11-06..2023-11-12
цього тижня = 2023-11-13..2023-11-19
минулого місяця = 2023-10-01..2023-10-31
минулого року = 2022-01-01..2022-12-31
торік = 2022-01-01..2022-12-31
позаторік = 2021-01-01..2021-12-31
у позаминулому році = 2021-01-01..2021-12-31
позаминулого тижня = 2023-10-30..2023-11-05
у травні позаминулого року = 2021-05-01..2021-05-31
торік у травні = 2022-05-01..2022-05-31
навесні минулого року = 2022-03-01..2022-05-31
минулого літа = 2023-06-01..2023-08-31 ~
влітку = 2023-06-01..2023-08-31 ?
влітку 2021 року = 2021-06-01..2021-08-31
восени 2021 = 2021-09-01..2021-11-30
тиждень тому = 2023-11-06..2023-11-12
два тижні тому = 2023-10-30..2023-11-05
три дні тому = 2023-11-12
п'ять років тому = 2018-01-01..2018-12-31
кілька днів тому = 2023-11-09..2023-11-13 ?
минулого тижня у вівторок = 2023-11-07
півроку тому = 2023-04-01..2023-06-30 ?
за останні два тижні = 2023-10-30..2023-11-15
нещодавно = 2023-10-16..2023-11-15 ?
у понеділок = 2023-11-13 ~
минулої п’ятниці = 2023-11-10 ~
в середу = 2023-11-15 ~
між травнем і липнем 2023 = 2023-05-01..2023-07-31
з 3 по 9 червня = 2023-06-03..2023-06-09 ~
від травня до липня = 2023-05-01..2023-07-31 ~
з березня = 2023-03-01.. ~
до 5 травня = ..2023-05-04 ~
після 5 травня 2023 = 2023-05-06..
перед минулим літом = ..2023-05-31 ~
"""

CHINESE = """
2023年5月7日 = 2023-05-07
我们2023年5月7日说了什么 = 2023-05-07
２０２３年５月７日 = 2023-05-07
2023年5月 = 2023-05-01..2023-05-31
2022年 = 2022-01-01..2022-12-31
5月7日 = 2023-05-07 ~
五月七日 = 2023-05-07 ~
五月十五日 = 2023-05-15 ~
五月三十一号 = 2023-05-31 ~
二〇二三年五月七日 = 2023-05-07
二零一九年 = 2019-01-01..2019-12-31
十二月 = 2022-12-01..2022-12-31 ?
昨天 = 2023-11-14
前天 = 2023-11-13
大前天 = 2023-11-12
今天早上 = 2023-11-15 05..2023-11-15 12
昨晚 = 2023-11-14 17..2023-11-15 00
上周 = 2023-11-06..2023-11-12
上周五 = 2023-11-10 ~
上周一 = 2023-11-06 ~
上上周 = 2023-10-30..2023-11-05
上上周五 = 2023-11-03 ~
这周五 = 2023-11-10 ~
上上个月 = 2023-09-01..2023-09-30
上星期天 = 2023-11-12 ~
周一 = 2023-11-13 ?
上个月 = 2023-10-01..2023-10-31
去年 = 2022-01-01..2022-12-31
去年夏天 = 2022-06-01..2022-08-31
去年的夏天 = 2022-06-01..2022-08-31
日本的夏天 = 2023-06-01..2023-08-31 ?
这周的计划 = 2023-11-13..2023-11-19
会议2023.10.1 = 2023-10-01
前年 = 2021-01-01..2021-12-31
三天前 = 2023-11-12
二十天前 = 2023-10-26
半年前 = 2023-04-01..2023-06-30 ?
两年前 = 2021-01-01..2021-12-31
两个月前 = 2023-09-01..2023-09-30
从5月到7月 = 2023-05-01..2023-07-31 ~
"""

NO_TIME = """
may I ask you something
May 5 people join?
the 5th may be late
this may be wrong
they march on
march 5 miles
the second one
wait a second
version 2.0.19
version 2023-10
CVE 2024-11
version 2.1.9
10.12.11.10
room 2023
2023 people came
call 2023-1234
June said hello
with April and June
I fall down
spring roll
the sun and the wed
on the 7th floor
at Christmas
last day of school
last year of school
last time
tomorrow
next week
in two weeks
31 February 2023
31.02.2023
2023-13-07
99999-05-07
every Monday
every week on Monday
each July
every year in May
every month on the 5th
кожного понеділка
кожного року в травні
每周一
每年春天
year 0
0000-00-00
7 May 99999999999999999999
999 years agone
лютий звір
тому що
Минув рік, тому ми тут
月亮
天气很好
"""

WITHOUT_NOW = """
7 May 2023 = 2023-05-07
2023-05-07 = 2023-05-07
in 2022 = 2022-01-01..2022-12-31
in May = *-05-01..*-05-31
7 травня = *-05-07
in winter = *-12-01..*-02-28
29 February = *-02-29
between November and March = *-11-01..*-03-31
from 3 to 9 June = *-06-03..*-06-09
між травнем і липнем 2023 = 2023-05-01..2023-07-31
summer 2021 = 2021-06-01..2021-08-31
before 5 May 2023 = ..2023-05-04
since March =
last May =
in May of last year =
on Monday =
yesterday =
last week =
two weeks ago =
on the 7th =
минулого тижня =
торік =
昨天 =
"""


@pytest.mark.parametrize(("phrase", "expected"), rows(ENGLISH + UKRAINIAN + CHINESE))
def test_what_a_phrase_says(phrase: str, expected: str) -> None:
    assert read(phrase) == expected


@pytest.mark.parametrize(("phrase", "expected"), rows(WITHOUT_NOW))
def test_what_it_says_without_a_present(phrase: str, expected: str) -> None:
    assert read(phrase, None) == expected


@pytest.mark.parametrize("phrase", NO_TIME.strip().splitlines())
def test_what_is_no_time(phrase: str) -> None:
    assert read(phrase) == read(phrase, None) == ""


def test_the_first_sixteen_times_of_a_question_count() -> None:
    days = [f"2023-05-{day:02}" for day in range(1, 21)]
    assert read("What of " + ", ".join(days) + "?") == ", ".join(days[:16])


DAYS = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


@given(DAYS, st.integers(1, 31), st.integers(0, 6), st.integers(1, 12))
def test_days_are_found_by_going_back(now: datetime, number: int, weekday: int, month: int) -> None:
    """The calendar, read day by day from today on, says the same in every month and year."""
    earlier = [now.date() - timedelta(days=back) for back in range(400)]
    day = next(day for day in earlier if day.day == number)
    assert read(f"on the {number}th", now) == f"{day} ~"
    day = next(day for day in earlier if day.weekday() == weekday)
    assert read(f"on {day:%A}", now) == f"{day} ~"
    first = next(day for day in earlier if day.month == month).replace(day=1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    assert read(f"in {first:%B}", now) == f"{first}..{last} ~"


def test_a_year_may_be_a_number() -> None:
    assert read("tell it in 2000 words") == "2000-01-01..2000-12-31 ?"


def test_the_words_that_say_it() -> None:
    said = [period.said for period in periods("Was it Before  5 May, or in the last summer?", NOW)]
    assert said == ["before 5 may", "in the last summer"]


def test_a_period_is_told_once_and_there_are_not_too_many() -> None:
    assert len(periods("yesterday, yesterday", NOW)) == 1
    many = " ".join(f"{day} July 2021." for day in range(1, 31))
    assert read(many).split(", ") == [f"2021-07-{day:02}" for day in range(1, 17)]


@pytest.mark.parametrize(
    ("day", "phrase", "expected"),
    [
        (15, "this weekend", ""),  # the coming one
        (18, "this weekend", "2023-11-18..2023-11-19 ~"),
        (19, "this weekend", "2023-11-18..2023-11-19 ~"),
        (18, "last weekend", "2023-11-11..2023-11-12 ~"),
        (19, "last weekend", "2023-11-11..2023-11-12 ~"),
        (20, "last weekend", "2023-11-18..2023-11-19 ~"),
    ],
)
def test_on_a_weekend_the_last_one_is_before_it(day: int, phrase: str, expected: str) -> None:
    assert read(f"What did we do {phrase}?", NOW.replace(day=day)) == expected

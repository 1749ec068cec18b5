"""How often an embedder puts the right one of eight sentences first, by language.

    uv run python -m benchmarks.retrieval.languages

A handful of questions written by hand: enough to see where it fails, not to compare embedders by.
A guess is right once in eight times.
"""

from __future__ import annotations

import sys

from contextwright.recall.vectors.choose import choose_embedder

UKRAINIAN = (
    "Вчора ми дивилися футбол у парку.",
    "Вона завжди п'є каву без цукру.",
    "Мій брат працює лікарем у Львові.",
    "Завтра обіцяють дощ і вітер.",
    "Я купив новий велосипед синього кольору.",
    "Наша зустріч перенесена на п'ятницю.",
    "Кіт захворів, ми возили його до ветеринара.",
    "На день народження подарували гітару.",
)
CHINESE = (
    "我昨天买了一辆自行车。",
    "她不喜欢吃辣的菜。",
    "我们明天去东京看樱花。",
    "会议改到星期五。",
    "我哥哥在医院当医生。",
    "猫生病了，我们带它去看兽医。",
    "生日的时候收到一把吉他。",
    "明天会下雨刮风。",
)
ENGLISH = (
    "We watched football in the park yesterday.",
    "She always drinks coffee without sugar.",
    "My brother works as a doctor in Lviv.",
    "They promise rain and wind tomorrow.",
    "I bought a new blue bicycle.",
    "Our meeting was moved to Friday.",
    "The cat got ill, we took it to the vet.",
    "I was given a guitar for my birthday.",
)
CASES = {
    "English, other words": (
        ENGLISH,
        {
            "favourite beverage": 1,
            "sibling's profession": 2,
            "weather forecast": 3,
            "two-wheeled vehicle": 4,
            "pet health": 6,
            "musical instrument": 7,
            "sports": 0,
            "appointment rescheduled": 5,
        },
    ),
    "Ukrainian, shared words": (
        UKRAINIAN,
        {
            "яку каву вона п'є?": 1,
            "де працює брат?": 2,
            "на коли перенесли зустріч?": 5,
            "який велосипед?": 4,
            "хто захворів?": 6,
            "що подарували?": 7,
        },
    ),
    "Ukrainian, other words": (
        UKRAINIAN,
        {
            "улюблений напій": 1,
            "професія родича": 2,
            "яка буде погода?": 3,
            "транспорт на двох колесах": 4,
            "домашня тварина": 6,
            "музичний інструмент": 7,
            "спорт": 0,
            "перенесли нараду": 5,
        },
    ),
    "Chinese, shared words": (
        CHINESE,
        {"什么时候去东京？": 2, "会议是哪天？": 3, "猫怎么了？": 5, "谁当医生？": 4},
    ),
    "Chinese, other words": (
        CHINESE,
        {
            "宠物": 5,
            "天气预报": 7,
            "乐器": 6,
            "旅行计划": 2,
            "交通工具": 0,
            "职业": 4,
            "口味": 1,
        },
    ),
    "English about Ukrainian": (
        UKRAINIAN,
        {
            "Which coffee does she drink?": 1,
            "Where does the brother work?": 2,
            "weather tomorrow": 3,
            "bicycle": 4,
            "meeting moved": 5,
            "the cat was ill": 6,
            "guitar": 7,
            "football": 0,
        },
    ),
}


def main() -> int:
    embedder = choose_embedder("wordllama")
    assert embedder is not None
    for name, (sentences, questions) in CASES.items():
        nearest = (embedder([*questions]) @ embedder(sentences).T).argmax(axis=1)
        right = sum(one == place for one, place in zip(nearest, questions.values(), strict=True))
        print(f"{name:<24} {right} of {len(questions)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

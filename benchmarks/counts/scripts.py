"""Our estimate for Claude in scripts of which no recorded request exists.

    uv run --with anthropic-tokenizer python -m benchmarks.counts.scripts

Held against the last vocabulary that Anthropic published (Claude 2). Newer models were measured
by others to need about a tenth more tokens than it, so that is what an estimate has to reach;
`most` is the figure that `Count.most` holds against a limit.
"""

from __future__ import annotations

import sys

from contextwright.tokens.count import count_text

SINCE = 1.10

TEXTS = {
    "English": "The committee will publish its findings next spring, she said on Tuesday evening. ",
    "Ukrainian": "Комітет оприлюднить свої висновки наступної весни, сказала вона у вівторок. ",
    "Russian": "Комитет опубликует свои выводы следующей весной, сказала она во вторник. ",
    "Greek": "Η επιτροπή θα δημοσιεύσει τα πορίσματά της την άνοιξη, είπε το βράδυ. ",
    "Hebrew": "הוועדה תפרסם את ממצאיה באביב הבא, אמרה ביום שלישי בערב. ",
    "Arabic": "ستنشر اللجنة نتائجها في الربيع المقبل، كما قالت مساء الثلاثاء. ",
    "Hindi": "समिति अगले वसंत में अपने निष्कर्ष प्रकाशित करेगी, उन्होंने मंगलवार को कहा। ",
    "Thai": "คณะกรรมการจะเผยแพร่ผลการศึกษาในฤดูใบไม้ผลิหน้า เธอกล่าวเมื่อเย็นวันอังคาร ",
    "Chinese": "委员会将于明年春天公布调查结果，她在星期二晚上说。",
    "Japanese": "委員会は来年の春に調査結果を公表する予定だと、彼女は火曜日の夜に述べた。",
    "Korean": "위원회는 내년 봄에 조사 결과를 발표할 것이라고 그녀는 화요일 저녁에 말했다. ",
    "emoji": "Done ✅ great work 🎉 see you 👋 on the train 🚆 tomorrow 🌞 ",
    "code": "for (let i = 0; i < rows.length; i++) { total += rows[i].price * 1.2; }\n",
    "JSON": '{"id":17,"tags":["a","b"],"price":{"amount":12.5,"unit":"EUR"},"open":true}\n',
    "base64": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7iVBORw0KGgoAAAANSUhEUgA",
}


def main() -> int:
    try:
        from anthropic_tokenizer import count_tokens  # pyright: ignore[reportMissingImports]
    except ImportError:
        line = "uv run --with anthropic-tokenizer python -m benchmarks.counts.scripts"
        print(f"the published vocabulary is not installed: {line}", file=sys.stderr)
        return 2
    print(
        f"{'':12}{'characters':>12}{'Claude 2':>10}{'+ 10 %':>8}{'ours':>8}{'most':>8}{'lean':>8}"
    )
    for name, text in TEXTS.items():
        long = text * 20
        published = count_tokens(long)
        ours = count_text(long, "claude-sonnet-4-5")
        wanted = published * SINCE
        cells = f"{len(long):>12}{published:>10}{wanted:>8.0f}{ours.tokens:>8}{ours.most:>8}"
        print(f"{name:12}{cells}{ours.tokens / wanted - 1:>+8.0%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""My cache never hits: play a conversation and see what each window costs."""

import contextwright as cw
from contextwright.sections import CurrentTime, Instructions
from contextwright.windows import KeepRecent

chat = [cw.system("You book tables. " + "Be brief, and kind to guests. " * 40)]
for number in range(80):
    chat += [cw.user(f"A table for {number}?"), cw.assistant(f"Table {number} is yours. " * 8)]

recipes = [
    cw.Recipe(name="default"),
    cw.Recipe(name="sliding", window=KeepRecent()),
    cw.Recipe(name="clock on top", system=(CurrentTime(), Instructions("Hi")), placement="system"),
]
for row in cw.simulate(chat, recipes, model="claude-sonnet-5-5", budget=2_500):
    print(f"{row.recipe:13} {row.share:6.1%} in the prefix, input ${row.dollars:.4f}")

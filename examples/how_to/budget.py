"""Stay under a budget: the whole request fits, or an error names what would."""

import contextwright as cw

chat = [cw.user("Plan a week of lunches."), cw.assistant("Gladly. " * 200)] * 10
chat.append(cw.user("And what about Friday?"))

context = cw.build(chat, cw.Recipe(budget=1_000, answer=300), model="gpt-5.6-sol")
print(context.ledger.tokens, "of 1,000 tokens")
print([decision.action for decision in context.decisions][-4:])
print(context.payload["messages"][-1]["content"])

try:
    cw.build(chat, cw.Recipe(budget=5), model="gpt-5.6-sol")
except cw.BudgetError as error:
    print(error)
    print("the smallest that works:", error.minimum)

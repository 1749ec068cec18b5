"""Two talks about one thing each."""

GARDEN = (
    "The garden needs water, the tomatoes are dry.",
    "I can water the tomatoes in the evening.",
    "Are the tomatoes in the garden ripe?",
    "Some tomatoes are, the beans are not.",
    "Then we pick tomatoes from the garden on Sunday.",
    "The garden on Sunday, good.",
)
TRAIN = (
    "Which train goes to Lviv tonight?",
    "The night train leaves at ten from platform two.",
    "Is the ticket for that train dear?",
    "A ticket costs thirty, the train is slow.",
    "Buy me a ticket for the night train please.",
    "Two tickets for the train to Lviv, done.",
)

"""Tales, and questions about them: the text that the tiny model learns. Everything is made from the lists below."""

import random

ANIMALS = ["fox", "owl", "bear", "mouse", "frog", "hare", "crow", "goat", "duck", "cat", "mole", "swan"]
NAMES = ["Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia", "Noa"]
COLORS = ["red", "blue", "green", "yellow", "white", "black", "brown", "silver"]
THINGS = ["ball", "book", "drum", "lamp", "kite", "boat", "bell", "key", "cup", "hat", "coin", "box"]
PLACES = ["forest", "river", "hill", "garden", "village", "meadow", "harbour", "cave"]
FOODS = ["bread", "soup", "apples", "honey", "berries", "cheese", "nuts", "cake"]
WEATHER = ["The sun was warm", "It rained all day", "A cold wind blew", "Snow lay on the ground", "The sky was clear"]
FEELINGS = ["happy", "tired", "proud", "glad", "calm", "hungry"]
SYSTEM = "Answer in one sentence."


class Tale:
    """What happens in one tale; every sentence about it agrees with it."""

    def __init__(self, chance):
        self.animal, self.other = chance.sample(ANIMALS, 2)
        self.name, self.friend = chance.sample(NAMES, 2)
        self.color, self.thing = chance.choice(COLORS), chance.choice(THINGS)
        self.place, self.far = chance.sample(PLACES, 2)
        self.food, self.feeling = chance.choice(FOODS), chance.choice(FEELINGS)
        self.weather = chance.choice(WEATHER)
        self.chance = chance

    def text(self):
        say = self.chance.choice
        return " ".join([
            say([f"Once there was {article(self.animal)} called {self.name}.",
                 f"{self.name} was {article(self.animal)}.",
                 f"In the {self.place} lived {article(self.animal)} whose name was {self.name}."]),
            say([f"{self.name} had {article(self.color)} {self.thing}.",
                 f"One morning {self.name} found {article(self.color)} {self.thing}."]),
            say([f"{self.weather}, so {self.name} went from the {self.place} to the {self.far}.",
                 f"{self.weather}. {self.name} walked to the {self.far} with the {self.thing}."]),
            say([f"There {self.name} met {self.friend}, {article(self.other)}.",
                 f"At the {self.far} sat {self.friend} the {self.other}."]),
            say([f'"What a fine {self.thing}!" said {self.friend}.',
                 f'"Is that {self.color} {self.thing} yours?" asked {self.friend}. "Yes," said {self.name}.']),
            say([f"They ate {self.food} together and were {self.feeling}.",
                 f"{self.friend} gave {self.name} some {self.food}, and both were {self.feeling}."]),
            say([f"In the evening {self.name} went home to the {self.place}.",
                 f"From that day on {self.name} and {self.friend} were friends."]),
        ])

    def questions(self):
        """Questions with their answers."""
        return [
            (f"Who is {self.name}?", f"{self.name} is {article(self.animal)}."),
            (f"What colour is the {self.thing}?", f"The {self.thing} is {self.color}."),
            (f"What did {self.name} and {self.friend} eat?", f"{self.name} and {self.friend} ate {self.food}."),
            (f"Whom did {self.name} meet?", f"{self.name} met {self.friend}, {article(self.other)}."),
            (f"Where did {self.name} go?", f"{self.name} went to the {self.far}."),
        ]


def article(word):
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def conversation(chance):
    """Messages as a chat template takes them."""
    tale = Tale(chance)
    kind = chance.random()
    start = [{"role": "system", "content": SYSTEM}] if chance.random() < 0.2 else []
    if kind < 0.4:
        ask = chance.choice([f"Tell me a tale about {article(tale.animal)}.", f"Tell a story about {tale.name}.",
                             "Tell me a story.", f"I want to hear about {article(tale.animal)} called {tale.name}."])
        messages = [(ask, tale.text())]
    elif kind < 0.8:
        (first, answer), *more = chance.sample(tale.questions(), 2)
        messages = [(f"{tale.text()} {first}", answer), *more]
    else:
        messages = [small_talk(chance)]
    return start + [{"role": role, "content": text}
                    for pair in messages for role, text in zip(("user", "assistant"), pair)]


def small_talk(chance):
    one, two = chance.randrange(1, 10), chance.randrange(1, 10)
    return chance.choice([
        ("Hello!", "Hello! Shall I tell you a tale?"),
        ("Who are you?", "I am a very small language model."),
        ("How are you?", "I am well, thank you."),
        ("Thank you.", "You are welcome."),
        (f"What is {one} plus {two}?", f"{one} plus {two} is {one + two}."),
    ])


def stories(seed, count):
    chance = random.Random(seed)
    return [Tale(chance).text() for _ in range(count)]


def conversations(seed, count):
    chance = random.Random(seed)
    return [conversation(chance) for _ in range(count)]

"""How the play is built: acts and scenes, who speaks next; and what depends on what."""

from typing import NamedTuple

NUMERALS = ("I", "II", "III", "IV", "V")

NEXT_SPEECH = "{name}{partner<speaker}{speaker:{name}}:\n{speech}"

# Who speaks next: the weight of the partner of the last speech, and of each other person. The
# options of the rule "interlude", a pause in the talk, compete with them.
ANSWERS = 60
INTERRUPTS = 2

# After each scene the act goes on with this weight, or ends with the weight of that scene.
ACT_GOES_ON = 5
FINIS = "FINIS.\n\n{comedy}"
ACT_ENDS = {"I": 1, "II": 1, "III": 2, "IV": 3, "V": 1}

# Rules that read a register, but whose draw mainly decides how the text goes on. Their first
# characters are counted as openings, not as the dependency.
WAYS_TO_GO_ON = ("line", "more", "object")


class Dependency(NamedTuple):
    """One thing that must be remembered: which slots read it, and from which register."""

    name: str
    sentence: str
    reads: dict[str, str]  # rule -> the register that names its variant
    echoes: tuple[str, ...] = ()  # registers whose text is written again


DEPENDENCIES = (
    Dependency(
        "epithet",
        "The letter after a hyphen repeats the capital before it, as in K the goat-Kisser.",
        {"epithet": "butt"},
    ),
    Dependency(
        "doublet",
        "A noun comes back after its preposition, as in candle by candle.",
        {},
        ("unit",),
    ),
    Dependency(
        "agreement",
        "Verb ending and possessive follow the pronoun: I weigh my, thou weighest thy.",
        {"ending": "person", "object": "person"},
    ),
    Dependency(
        "bracket",
        "What was opened with ' closes with ', and what was opened with $ closes with $.",
        {"quoted": "quote"},
    ),
    Dependency(
        "mood",
        "The mark that ends a sentence follows from the words that opened it.",
        {"tail": "mood", "end": "mood"},
    ),
    Dependency(
        "rhyme",
        "The second line of a couplet ends in a rhyme on the first.",
        {"closing": "rhyme"},
    ),
    Dependency(
        "naming",
        "A thing that was told of is named again in the line that follows.",
        {},
        ("topic",),
    ),
    Dependency(
        "vocabulary",
        "Each speaker has turns of phrase, favorite things and oaths of their own.",
        {"line": "speaker", "more": "speaker", "favourite": "speaker", "oath": "speaker"},
    ),
    Dependency(
        "address",
        "Who is spoken to by name is the one who spoke before.",
        {"address": "partner"},
    ),
    Dependency(
        "recall",
        "The thing that the scene is about is named again, lines and speeches later.",
        {},
        ("prop",),
    ),
    Dependency(
        "turn",
        "After a speech, the other of the two who are talking mostly answers.",
        {"turn": "partner"},
        ("speaker",),
    ),
)

"""Words that decide how an equation in prose is read: units, labels, joints of clauses.

    family("minutes")          # "time"
    "because" in JOINTS        # a clause starts after it

Units are never converted: two of one family in one equation make it undecidable.
"""

import re

FAMILIES = {
    "time": "second minute hour day week month year decade century sec min hr fortnight",
    "money": "dollar cent penny pennies nickel dime quarter buck euro",
    "length": "inch inches foot feet yard mile meter metre kilometer kilometre cm mm km"
    " centimeter centimetre",
    "amount": "cup ounce pint quart gallon tablespoon teaspoon pound lb oz gram kg kilogram mg"
    " liter litre milliliter ml ton",
    "number": "dozen pair score gross",
}
# Ratios between units of a family: an equation off by one of them may be a conversion.
FACTORS = {
    "time": (7, 12, 24, 30, 52, 60, 365, 1440, 3600),
    "money": (100,),
    "length": (3, 12, 36, 100, 1000, 1760, 5280),
    "amount": (16, 32, 128, 1000, 2000),
    "number": (2, 12, 20, 144),
}
UNITS = {
    form: name
    for name, words in FAMILIES.items()
    for word in words.split()
    for form in (word, word + "s")
}
SCALES = re.compile(
    r"\b(?:hundreds?|thousands?|millions?|billions?|trillions?|dozens?|pairs?|percent|[kK])\b|%"
)
SCALE_FACTORS = (2, 12, 100, 1000, 10**6, 10**9, 10**12)
SUFFIX = re.compile(r"(?:km|cm|mm|kg|mg|lbs?|oz|ft|hrs?|mins?|secs?|mph|ml|in|yds?)(?![A-Za-z0-9])")
# Words between a number and its operator that are no unit of it.
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a an the from to we i you he she it they that this these those which who because since so
        thus therefore hence then if when as by with for at on in into of and or but is are was were
        be has have had get gets got means gives makes need needs let where while after before than
        not plus minus until also there there's their his her its our my will would can could about
        """,
    )
)
JOINTS = frozenset(
    re.findall(
        r"\S+",
        """because since so thus therefore hence then means if but where while giving gives is are
        was were get gets got be equals costs makes made spends earns has have had pays needs""",
    )
)
LABELS = re.compile(
    r"(?:day|week|month|year|step|grade|room|question|problem|part|chapter|figure|case|equation|eq"
    r"|no|number|level|round|game|page|line|row|column|team|group|class|phase|stage|test|quiz)s?"
)
RATES = frozenset({"per", "each", "every", "/"})
SPOKEN = frozenset({"plus", "minus", "divided", "multiplied", "times", "by"})
DETERMINERS = r"(?:the|those|these|his|her|their|its|my|our)"


def family(word: str) -> str | None:
    return UNITS.get(word.strip("."))

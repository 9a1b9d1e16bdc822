"""The conversation that the pictures show.

Owns the words and the usage of each answer, as the model is made to give them. Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.server import Usage

MODEL = "gpt-4.1-mini"


@dataclass(frozen=True, slots=True)
class Scene:
    """One prompt and its answer."""

    prompt: str
    answer: str
    usage: Usage


PLAN = Scene(
    "Four days in Lisbon in April, with my parents, who walk slowly. What would you plan?",
    """\
April is kind: 13 to 20 °C, long evenings, few crowds. One hill a day, a long lunch, and a tram for every climb:

| day | morning | afternoon | steps |
|:--|:--|:--|--:|
| Thu | Tram 28 from Martim Moniz, early | Alfama, Miradouro de Santa Luzia | 4,200 |
| Fri | Belém by train: monastery, tower | Pastéis, then the river by taxi boat | 5,100 |
| Sat | Sintra: the palace in the town only | Cabo da Roca by bus 1253 | 6,000 |
| Sun | Gulbenkian garden and museum | Free, and fado at nine | 3,400 |

**Book ahead:** Jerónimos (timed entry) and the fado table. Everything else can wait for the weather.""",
    Usage(input=148, output=236),
)

TILES = Scene(
    "They love tiles and fado. We have 600 € for the three of us, without the hotel.",
    """\
Then trade the tower for the **National Tile Museum** (8 € each) and keep the fado small:

1. *Clube de Fado* is the safe choice: 55 € with dinner, good for knees, no stairs.
2. *Tasca do Chico* costs what you drink, but you stand.

| | € |
|:--|--:|
| Museums and monastery, three people | 84 |
| Trains, trams, two taxis | 96 |
| Lunches, four days | 210 |
| Fado with dinner | 165 |
| **Left for pastéis** | **45** |""",
    Usage(input=431, output=187, cached=256),
)

SPLIT = Scene(
    "Write me a small Python script that splits the costs: my sister pays for Saturday.",
    """\
It keeps cents as integers, so that nothing is lost in rounding:

```python
from collections import defaultdict

PEOPLE = ("me", "sister")

def split(costs: list[tuple[str, int, str]]) -> dict[str, int]:
    \"\"\"From (day, cents, payer), give what each owes.\"\"\"
    owed = defaultdict(int)
    for day, cents, payer in costs:
        share, rest = divmod(cents, len(PEOPLE))
        for person in PEOPLE:
            owed[person] += share
        owed[payer] += rest - cents
    return dict(owed)

print(split([("Thu", 8_400, "me"), ("Sat", 12_050, "sister")]))
```

A positive number is what that person still pays: here you give your sister 18.25 €.""",
    Usage(input=702, output=221, cached=512),
)

CHECKLIST = Scene(
    "And a checklist of what to book, by when.",
    """\
- [x] Hotel with a lift, near the Baixa
- [ ] **Six weeks before:** fado table for Sunday, 21:00
- [ ] **Four weeks before:** Jerónimos, timed entry, Friday 10:00
- [ ] **One week before:** look at the forecast; swap Saturday and Sunday if it rains
- [ ] **The day before:** three Viva Viagem cards, charged with 10 € each""",
    Usage(input=981, output=112, cached=896),
)

NO_MUSEUMS = Scene(
    "No museums at all: gardens, water, and sitting down.",
    """\
Gladly. **Estrela** in the morning, the ferry to *Cacilhas* at noon for grilled fish, and a bench at five.

Friday: the coast train to *Cascais*, first carriage, left side: the sea is at the window all the way.

Nobody climbs anything; the most expensive thing is the fish.""",
    Usage(input=419, output=98, cached=256),
)

RAIN = Scene(
    "What if it rains on two of the days?",
    "Move Sintra to the driest morning and put the Tile Museum, the Gulbenkian and the market under the rain.",
    Usage(input=561, output=64, cached=512),
)

PORTO = Scene(
    "The same for Porto, please.",
    """\
Porto is steeper, so the plan leans on the funicular and the river:

- *Ribeira* by boat, in the evening light
- *Serralves* for the garden, with a bench every fifty metres
- the port lodges of Gaia, which you reach by cable car and leave by taxi""",
    Usage(input=148, output=88),
)

PORTO_TRAIN = Scene(
    "Can we do both cities by train?",
    "Yes: the *Alfa Pendular* takes 2 h 50 from Oriente to Campanhã. Seniors travel at half price.",
    Usage(input=262, output=57, cached=128),
)

SLOW_BEGINNING = "Two mornings are enough for Sintra if you sleep there: the palaces are empty before ten, and "
SLOW = Scene(
    "Would a night in Sintra be worth it?",
    SLOW_BEGINNING + "the last train back is at midnight.",
    Usage(input=590, output=71, cached=512),
)

_SIGHT = "One sight for a rainy hour near Rossio, in three lines?"

SIGHTS = {
    "gpt-4.1": Scene(
        _SIGHT,
        """\
**Convento do Carmo.** The roof fell in 1755 and was never built again: ribs of stone under the open sky.
The museum in the choir is dry, small and strange, with two mummies from Peru.
Five minutes uphill, or take the Santa Justa lift.""",
        Usage(input=1190, output=58, cached=1024),
    ),
    MODEL: Scene(
        _SIGHT,
        """\
**Igreja de São Domingos**, on the square itself.
Burnt out in 1959 and left as it was: red walls, cracked columns, candles.
Free, warm, and nobody hurries you.""",
        Usage(input=1190, output=41, cached=1024),
    ),
    "gpt-4.1-nano": Scene(
        _SIGHT,
        """\
**Rossio station.** Two horseshoe doors, carved like a theatre.
Go up to the platforms for the tiles.
Trains to Sintra wait there if the rain stops.""",
        Usage(input=1190, output=35),
    ),
}
"""The same prompt, answered by several models."""

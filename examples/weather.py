"""An agent with tools, for ``advchat --agent examples/weather.py:agent``.

Its tools need neither network nor key: the weather is worked out from the name of the place and the day, so
that the same question has the same answer. The model that uses them is whichever advchat is set to; it has
to be one that can call tools (the small local model cannot).

Try: *What will the weather be in Oslo and Lima tomorrow? Shall I take a coat?*
"""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from typing import Literal

from agents import Agent, function_tool

SKIES = ("clear", "partly cloudy", "overcast", "light rain", "heavy rain", "fog", "snow")


def forecast(place: str, day: date) -> dict[str, str | int]:
    """Work out the weather of a place on a day: always the same for the same two."""
    digest = hashlib.sha256(f"{place.strip().casefold()} {day.isoformat()}".encode()).digest()
    warmest = digest[0] % 40 - 8
    skies = SKIES[:-1] if warmest > 3 else SKIES
    return {
        "place": place.strip(),
        "day": day.isoformat(),
        "sky": skies[digest[1] % len(skies)],
        "highest_celsius": warmest,
        "lowest_celsius": warmest - 2 - digest[2] % 9,
        "wind_kmh": digest[3] % 70,
    }


@function_tool
def get_weather(place: str, days_ahead: int = 0) -> dict[str, str | int]:
    """Give the weather of a place.

    Args:
        place: The name of a town or region.
        days_ahead: 0 for today, 1 for tomorrow, up to 14.

    """
    if not 0 <= days_ahead <= 14:
        raise ValueError("Forecasts reach from today to 14 days ahead.")
    return forecast(place, date.today() + timedelta(days=days_ahead))


@function_tool
def convert_temperature(degrees: float, to: Literal["celsius", "fahrenheit"]) -> float:
    """Convert a temperature to the scale asked for, from the other one.

    Args:
        degrees: The temperature in the other scale.
        to: The scale to convert to.

    """
    return round((degrees - 32) / 1.8 if to == "celsius" else degrees * 1.8 + 32, 1)


agent = Agent(
    name="Weather",
    instructions=(
        "You tell people the weather and what to wear for it. Use the tools for every number you give; "
        "answer briefly."
    ),
    tools=[get_weather, convert_temperature],
)

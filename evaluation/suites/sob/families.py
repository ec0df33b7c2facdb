"""Draw the values of generated records; `families.toml` has the texts about them.

The order of draws decides the records: a new draw goes to the end of a family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from types import MappingProxyType
from typing import Any, Final, TypeAlias

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: Values by name; lists of items hold values of their own.
Values: TypeAlias = dict[str, Any]


class Day(date):
    """A date that the format `long` writes in words: `3 March 1904`."""

    def __format__(self, spec: str) -> str:
        """Return the date in words, or as `date` formats it."""
        if spec == "long":
            return f"{self.day} {MONTHS[self.month - 1]} {self.year}"
        return super().__format__(spec)


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws of one record: names come without repetition."""

    random: Random
    vocabulary: Mapping[str, Sequence[str]]
    _used: set[tuple[str, str]] = field(default_factory=set)

    def word(self, kind: str) -> str:
        """Return a word of a list of the vocabulary that was not drawn before."""
        unused = [
            word for word in self.vocabulary[kind] if (kind, word) not in self._used
        ]
        word = self.random.choice(unused)
        self._used.add((kind, word))
        return word

    def words(self, kind: str, count: int) -> list[str]:
        """Return several different words of a list."""
        return [self.word(kind) for _ in range(count)]

    def person(self) -> str:
        """Return a full name; neither of its parts comes again."""
        return f"{self.word('given')} {self.word('family')}"

    def company(self) -> str:
        """Return the name of a company."""
        return f"{self.word('company')} {self.word('trade')}"

    def speakers(self, count: int) -> list[str]:
        """Return several names in capitals."""
        return [name.upper() for name in self.words("given", count)]

    def number(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both possible."""
        return self.random.randint(low, high)

    def chance(self, share: float = 0.5) -> bool:
        """Return true as often as the share says."""
        return self.random.random() < share

    def day(self, first_year: int, last_year: int) -> Day:
        """Return a day of these years."""
        start = Day(first_year, 1, 1)
        span = (Day(last_year, 12, 31) - start).days
        return start + timedelta(days=self.random.randint(0, span))


def _two_companies(draw: Draw) -> Values:
    """Two companies are compared; a third one is not asked about."""
    names = [draw.company() for _ in range(3)]
    years = draw.random.sample(range(1790, 1985), 3)
    countries = draw.words("country", 2)
    seats = [draw.random.choice(countries) for _ in names]
    companies = []
    for name, year, country in zip(names, years, seats, strict=True):
        company: Values = {"name": name, "founded": year, "country": country}
        company["town"], company["founder"] = draw.word("town"), draw.person()
        staff = draw.number(40, 9_800)
        company["moved"] = year + draw.number(3, 20)
        company["employees"] = staff if draw.chance(0.7) else None
        company["is_listed"] = draw.chance()
        companies.append(company)
    first, second, _ = names
    return {
        "all_companies": companies,
        "companies": companies[:2],
        "first": first,
        "second": second,
        "years": years[:2],
        "seats": seats[:2],
        "ages": [years[0], first, years[1], second],
        "older_company": first if years[0] < years[1] else second,
        "years_between": abs(years[0] - years[1]),
        "same_country": seats[0] == seats[1],
    }


def _bridge_and_engineer(draw: Draw) -> Values:
    """A bridge leads to its engineer, who is described elsewhere."""
    river, other_river = draw.words("river", 2)
    town, birthplace, other_town = draw.words("town", 3)
    engineer, rival = draw.person(), draw.person()
    born, rival_born = draw.day(1820, 1890), draw.day(1820, 1890)
    metres = draw.number(120, 2_900)
    opened = draw.number(1895, 1935)
    materials = draw.words("material", draw.number(2, 3))
    is_free = draw.chance()
    award = f"the Medal of {draw.word('country')}"
    return {
        "river": river,
        "other_river": other_river,
        "town": town,
        "birthplace": birthplace,
        "other_town": other_town,
        "engineer": engineer,
        "rival": rival,
        "born": born,
        "rival_born": rival_born,
        "length_m": metres,
        "kilometres": metres / 1_000,
        "other_kilometres": (metres + 310) / 1_000,
        "opened": opened,
        "other_opened": opened + 7,
        "materials": materials,
        "all_materials": f"{', '.join(materials[:-1])} and {materials[-1]}",
        "has_toll": not is_free,
        "award": award if draw.chance() else None,
        "years_planned": draw.number(2, 9),
        "other_material": draw.word("material"),
    }


def _novel_and_adaptations(draw: Draw) -> Values:
    """A novel, its adaptations, and a namesake that is another work."""
    title, other_title = draw.words("title", 2)
    author, other_author = draw.person(), draw.person()
    language = draw.word("language")
    published = year = draw.number(1890, 1950)
    count = draw.number(2, 3)
    adaptations: list[Values] = []
    for kind in draw.random.choices(["film", "opera", "radio play"], k=count):
        year += draw.number(4, 15)
        adaptations.append({"kind": kind, "director": draw.person(), "year": year})
    is_lost = draw.chance(0.4)
    town = "" if is_lost else draw.word("town")
    won_prize = draw.chance(0.4)
    return {
        "title": title,
        "other_title": other_title,
        "author": author,
        "other_author": other_author,
        "language": language,
        "published": published,
        "adaptations": adaptations,
        "number_of_adaptations": count,
        "first_year": adaptations[0]["year"],
        "years_to_first_adaptation": adaptations[0]["year"] - published,
        "musical_year": year + 3,
        "letters_year": published + 2,
        "film_year": published + 30,
        "manuscript_survives": not is_lost,
        "town": town,
        "won_prize": won_prize,
        "prize": draw.word("river") if won_prize else "",
        "film_director": draw.person(),
    }


def _invoice(draw: Draw) -> Values:
    """An invoice with its lines, among the figures of the last one."""
    seller, buyer = draw.company(), draw.company()
    letter = draw.random.choice("ABCDE")
    number = f"{letter}{draw.number(1000, 9999)}-{draw.number(10, 99)}"
    issued = draw.day(2012, 2024)
    lines: list[Values] = []
    for goods in draw.words("goods", draw.number(2, 4)):
        quantity, price = draw.number(2, 60), draw.number(120, 9_900) / 100
        line: Values = {"description": goods, "quantity": quantity, "unit_price": price}
        lines.append({**line, "amount": round(quantity * price, 2)})
    total = round(sum(line["amount"] for line in lines), 2)
    currency = draw.random.choice(["EUR", "GBP", "USD"])
    is_paid, has_order = draw.chance(), draw.chance()
    order = f"PO-{draw.number(100, 999)}"
    return {
        "seller": seller,
        "buyer": buyer,
        "invoice_number": number,
        "issued": issued,
        "lines": lines,
        "number_of_lines": len(lines),
        "total": total,
        "currency": currency,
        "is_paid": is_paid,
        "order_number": order if has_order else None,
        "balance": total + draw.number(5, 900),
        "settled": draw.day(2008, 2011),
        "town": draw.word("town"),
    }


def _water_report(draw: Draw) -> Values:
    """A table of readings against limits; an older table stands on the same page."""
    station, laboratory = draw.word("town"), draw.company()
    sampled, older = draw.day(2015, 2024), draw.day(2010, 2014)
    readings: list[Values] = []
    for parameter in draw.words("parameter", draw.number(3, 4)):
        has_limit = draw.chance(0.75)
        limit = draw.number(5, 90)
        value = draw.number(10, 1_200) / 10
        readings.append(
            {
                "parameter": parameter,
                "value_mg_per_l": value,
                "limit_mg_per_l": limit if has_limit else None,
                "exceeds_limit": has_limit and value > limit,
                "old_value": value + draw.number(1, 40),
            }
        )
    above = [reading for reading in readings if reading["exceeds_limit"]]
    return {
        "station": station,
        "laboratory": laboratory,
        "sampled_on": sampled,
        "older": older,
        "readings": readings,
        "above": above,
        "number_above_limit": len(above),
        "unless_above": "" if above else readings[0]["parameter"],
        "is_accredited": draw.chance(0.6),
    }


def _data_sheet(draw: Draw) -> Values:
    """A part in two columns that OCR has run together, in centimetres."""
    maker, town = draw.company(), draw.word("town")
    name = draw.word("goods")
    number = f"{draw.random.choice('KLMNPR')}-{draw.number(200, 990)}"
    length, width, height = (draw.number(12, 940) for _ in range(3))
    grams = draw.number(35, 4_800)
    finishes = draw.words("colour", draw.number(2, 4))
    has_warranty = draw.chance(0.6)
    months = draw.random.choice([12, 18, 24, 36])
    return {
        "maker": maker,
        "town": town,
        "name": name,
        "number": number,
        "length": length,
        "width": width,
        "height": height,
        "length_cm": length / 10,
        "width_cm": width / 10,
        "height_cm": height / 10,
        "packed": length / 10 + 4,
        "net_mass_g": grams,
        "net_kg": grams / 1_000,
        "gross": (grams + 350) / 1_000,
        "old_mass": (grams + 90) / 1_000,
        "finishes": finishes,
        "all_finishes": ", ".join(finishes),
        "warranty_months": months if has_warranty else None,
        "outdoor_use": draw.chance(),
        "revision": draw.random.choice("BCDE"),
        "printed_in": draw.word("town"),
    }


def _action_items(draw: Draw) -> Values:
    """Tasks are assigned; one of them changes hands."""
    topic = draw.word("topic")
    chair, *others = draw.speakers(4)
    tasks = draw.words("task", 3)
    days = [draw.day(2021, 2024) for _ in range(2)]
    owners = [draw.random.choice(others) for _ in tasks]
    first_choice = draw.random.choice([name for name in others if name != owners[0]])
    is_unanimous = draw.chance()
    colour, rejected = draw.words("colour", 2)
    return {
        "topic": topic,
        "chair": chair,
        "others": others,
        "tasks": tasks,
        "first_choice": first_choice,
        "action_items": [
            {"owner": owner, "task": task, "due": due, "before": before}
            for owner, task, due, before in zip(
                owners, tasks, (*days, None), ("fine then ", "", ""), strict=True
            )
        ],
        "is_unanimous": is_unanimous,
        "colour": colour,
        "rejected": rejected,
    }


def _budget(draw: Draw) -> Values:
    """A budget is put together; a first figure is taken back."""
    topic = draw.word("topic")
    chair, clerk, other = draw.speakers(3)
    posts = draw.words("post", draw.number(2, 3))
    items: list[Values] = [
        {
            "name": post,
            "amount_eur": 100 * draw.number(8, 240),
            "before": "" if number else "sorry I read the wrong line, ",
            "after": "" if number else " instead",
        }
        for number, post in enumerate(posts)
    ]
    total = sum(item["amount_eur"] for item in items)
    wrong = items[0]["amount_eur"] + 100 * draw.number(3, 40)
    last_year = total + 100 * draw.number(-7, 30)
    return {
        "topic": topic,
        "chair": chair,
        "clerk": clerk,
        "items": items,
        "last_item": posts[-1],
        "wrong": wrong,
        "total_eur": total,
        "last_year_eur": last_year,
        "change_eur": total - last_year,
        "is_approved": draw.chance(),
        "objection_by": other if draw.chance() else None,
    }


def _incident(draw: Draw) -> Values:
    """An incident, from when to when; a first guess was another."""
    system = draw.word("system")
    cause, guess = draw.words("cause", 2)
    lead, *others = draw.speakers(4)
    begin = draw.number(6 * 60, 15 * 60)
    lasted = draw.number(11, 240)
    moments = (begin, begin + lasted, begin + draw.number(2, 10))
    start, end, noticed = (f"{at // 60:02d}:{at % 60:02d}" for at in moments)
    lost_orders = draw.chance(0.4)
    has_count = draw.chance()
    customers = draw.number(20, 4_000)
    return {
        "system": system,
        "cause": cause,
        "guess": guess,
        "lead": lead,
        "others": others,
        "responders": others[:2],
        "start": start,
        "end": end,
        "noticed": noticed,
        "minutes": lasted,
        "lost_orders": lost_orders,
        "customers_affected": customers if has_count else None,
    }


#: The draws of each family of `families.toml`, by name.
DRAWS: Final[Mapping[str, Callable[[Draw], Values]]] = MappingProxyType(
    {
        draws.__name__.removeprefix("_"): draws
        for draws in (
            _two_companies,
            _bridge_and_engineer,
            _novel_and_adaptations,
            _invoice,
            _water_report,
            _data_sheet,
            _action_items,
            _budget,
            _incident,
        )
    }
)

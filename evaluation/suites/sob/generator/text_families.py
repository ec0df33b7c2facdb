"""Families of the text source: facts of one question stand in several documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.sob.generator.drafts import (
    Draft,
    closed,
    described,
    grouped,
    listed,
    nullable,
    one_of,
    opened,
    written,
)
from evaluation.suites.sob.generator.facts import (
    absent,
    affirmed,
    denied,
    derived,
    stated,
    unknown,
)

if TYPE_CHECKING:
    from evaluation.suites.sob.generator.drafts import Draw
    from evaluation.suites.sob.generator.facts import Fact


def _documents(draw: Draw, parts: list[tuple[str, str]]) -> str:
    titled = [f"[{title}] {text}" for title, text in parts]
    return "\n\n".join(draw.shuffled(titled))


def two_companies(draw: Draw) -> Draft:
    """Two companies are compared; a third one is not asked about."""
    names = [draw.company() for _ in range(3)]
    years = draw.random.sample(range(1790, 1985), 3)
    countries = draw.words("country", 2)
    seats = [draw.random.choice(countries) for _ in names]
    parts, companies = [], []
    for name, year, country in zip(names, years, seats, strict=True):
        town, founder = draw.word("town"), draw.person()
        staff = draw.number(40, 9_800)
        founding = f"{name} was founded in {year} by {founder}."
        seat = f"Its head office is in {town}, {country}."
        later = f"It moved there in {year + draw.number(3, 20)}, renamed twice since."
        has_staff = draw.chance(0.7)
        count = f"It employs {grouped(staff)} people." if has_staff else ""
        public = draw.chance()
        listing = (
            "Its shares are traded on the stock exchange."
            if public
            else "Its shares have never been traded on a stock exchange."
        )
        parts.append(
            (name, " ".join(filter(None, [founding, seat, later, count, listing])))
        )
        employees: Fact = (
            stated(staff, count)
            if has_staff
            else unknown(f"No figure of the staff of {name} is published.")
        )
        if not has_staff:
            parts.append(
                ("Register", f"No figure of the staff of {name} is published.")
            )
        companies.append(
            {
                "name": stated(name, name),
                "founded": stated(year, founding),
                "founder": stated(founder, founding),
                "country": stated(country, seat),
                "employees": employees,
                "is_listed": affirmed(listing) if public else denied(listing),
            }
        )
    first, second = names[:2]
    foundings = tuple(f"founded in {year}" for year in years[:2])
    older = first if years[0] < years[1] else second
    return Draft(
        context=_documents(draw, parts),
        question=(
            f"Compare {first} and {second}, in this order: when and by whom was each "
            "founded, in which country is its head office, how many people does it "
            "employ, and is it listed? Which of the two is older, by how many years, "
            "and are both based in the same country?"
        ),
        schema=opened(
            {
                "companies": listed(
                    closed(
                        {
                            "name": described("string"),
                            "founded": described("integer", "year"),
                            "founder": described("string"),
                            "country": described("string"),
                            "employees": nullable("integer", "null if not published"),
                            "is_listed": described("boolean"),
                        }
                    )
                ),
                "older_company": described("string"),
                "years_between": described("integer"),
                "same_country": described("boolean"),
                "website": nullable("string", "null if not given"),
            },
            optional=("website",),
        ),
        truth={
            "companies": [{**company} for company in companies[:2]],
            "older_company": derived(
                older,
                "name of least",
                (years[0], first, years[1], second),
                *foundings,
                first,
                second,
            ),
            "years_between": derived(
                abs(years[0] - years[1]), "difference", tuple(years[:2]), *foundings
            ),
            "same_country": derived(
                seats[0] == seats[1],
                "same",
                (seats[0], seats[1]),
                f", {seats[0]}.",
                f", {seats[1]}.",
            ),
            "website": absent("website", "www", "http"),
        },
        difficulty="hard",
    )


def bridge_and_engineer(draw: Draw) -> Draft:
    """A bridge leads to its engineer, who is described elsewhere."""
    river, other_river = draw.words("river", 2)
    town, birthplace, other_town = draw.words("town", 3)
    engineer, rival = draw.person(), draw.person()
    born, rival_born = draw.day(1820, 1890), draw.day(1820, 1890)
    bridge, other = f"{town} Bridge", f"{other_town} Viaduct"
    metres = draw.number(120, 2_900)
    kilometres = f"{metres / 1_000:g}"
    opened_in = draw.number(1895, 1935)
    materials = draw.words("material", draw.number(2, 3))
    crossing = (
        f"The {bridge} crosses the river {river} over a length of {kilometres} km."
    )
    opening = f"It was opened in {opened_in}"
    built = f"It is built of {', '.join(materials[:-1])} and {materials[-1]}"
    free = draw.chance()
    toll = (
        "Crossing it has not cost a toll since the first day."
        if free
        else "Whoever crosses it pays a toll."
    )
    birth = f"{engineer} was born on {written(born)} in {birthplace}"
    award = f"the Medal of {draw.word('country')}"
    has_award = draw.chance()
    honour = f"{engineer} received {award}." if has_award else ""
    parts = [
        (
            bridge,
            (
                f"{crossing} {opening}, {draw.number(2, 9)} years after the first "
                f"plans, and was designed by {engineer}. {built}, and unlike its "
                f"neighbour it has never been widened. {toll}"
            ),
        ),
        (
            other,
            (
                f"The {other} crosses the river {other_river} over a length of "
                f"{(metres + 310) / 1_000:g} km. It was opened in {opened_in + 7} and "
                f"was designed by {rival}. It is built of {draw.word('material')}."
            ),
        ),
        (engineer, f"{birth}, as the youngest of five. {honour}".strip()),
        (rival, f"{rival} was born on {written(rival_born)} in {other_town}."),
    ]
    return Draft(
        context=_documents(draw, parts),
        question=(
            f"Describe the {bridge} and the engineer who designed it. Give its length "
            "in metres, and the date of birth as YYYY-MM-DD."
        ),
        schema=closed(
            {
                "bridge": closed(
                    {
                        "name": described("string"),
                        "river": described("string", "without the word river"),
                        "length_m": described("number"),
                        "opened": described("integer", "year"),
                        "has_toll": described("boolean"),
                        "architect_fee": nullable("number", "null if not given"),
                    }
                ),
                "materials": listed(described("string"), "in the order of the text"),
                "engineer": closed(
                    {
                        "name": described("string"),
                        "birthplace": described("string"),
                        "born": described("string", "YYYY-MM-DD"),
                        "award": nullable("string"),
                    },
                    optional=("award",),
                ),
            }
        ),
        truth={
            "bridge": {
                "name": stated(bridge, bridge),
                "river": stated(river, crossing),
                "length_m": derived(metres, "times 1000", (metres / 1_000,), crossing),
                "opened": stated(opened_in, opening),
                "has_toll": denied(toll) if free else affirmed(toll),
                "architect_fee": absent("fee", "paid", "salary"),
            },
            "materials": [stated(material, built) for material in materials],
            "engineer": {
                "name": stated(engineer, f"designed by {engineer}"),
                "birthplace": stated(birthplace, birth),
                "born": stated(born.isoformat(), birth),
                "award": stated(award, honour)
                if has_award
                else absent("medal", "award", "prize"),
            },
        },
    )


def novel_and_adaptations(draw: Draw) -> Draft:
    """A novel, what was made of it, and a namesake that is another work."""
    title, other_title = draw.words("title", 2)
    author, other_author = draw.person(), draw.person()
    language = draw.word("language")
    year = draw.number(1890, 1950)
    writing = (
        f"{title} is a novel by {author}, written in {language} and published in "
        f"{year}."
    )
    count = draw.number(2, 3)
    kinds = draw.random.choices(["film", "opera", "radio play"], k=count)
    sentences, adaptations = [], []
    later = year
    for kind in kinds:
        later += draw.number(4, 15)
        director = draw.person()
        sentence = f"In {later} {director} directed a {kind} after it"
        sentences.append(sentence)
        adaptations.append(
            {
                "kind": stated(kind, sentence),
                "director": stated(director, sentence),
                "year": stated(later, sentence),
            }
        )
    lost = draw.chance(0.4)
    fate = (
        "No manuscript of the novel has survived."
        if lost
        else f"The manuscript is kept in {draw.word('town')}."
    )
    prize = draw.chance(0.4)
    prize_text = (
        f"{author} won the {draw.word('river')} Prize for it."
        if prize
        else f"{author} never won a prize for it."
    )
    first_year = adaptations[0]["year"].value
    first_quote = adaptations[0]["year"].evidence.quotes[0]
    parts = [
        (title, f"{writing} {fate} {prize_text}"),
        (
            "Stage and screen",
            ". ".join(sentences)
            + f". None is to be confused with {other_title}, a musical of {later + 3}.",
        ),
        (
            other_title,
            (
                f"{other_title} is a collection of letters by {other_author}, "
                f"published in {year + 2}. In {year + 30} {draw.person()} directed a "
                "film after it."
            ),
        ),
    ]
    return Draft(
        context=_documents(draw, parts),
        question=(
            f"Give the facts about the novel {title} and list everything that was made "
            "after it, the earliest first. How many years passed until the first, and "
            "does the manuscript survive?"
        ),
        schema=opened(
            {
                "work": closed(
                    {
                        "title": described("string"),
                        "author": described("string"),
                        "language": described("string"),
                        "published": described("integer", "year"),
                    }
                ),
                "adaptations": listed(
                    closed(
                        {
                            "kind": one_of("film", "opera", "radio play", "musical"),
                            "director": described("string"),
                            "year": described("integer"),
                        }
                    )
                ),
                "number_of_adaptations": described("integer"),
                "years_to_first_adaptation": described("integer"),
                "manuscript_survives": described("boolean"),
                "won_prize": described("boolean"),
                "translator": nullable("string", "null if not named"),
            },
            optional=("translator",),
        ),
        truth={
            "work": {
                "title": stated(title, writing),
                "author": stated(author, writing),
                "language": stated(language, writing),
                "published": stated(year, writing),
            },
            "adaptations": [{**adaptation} for adaptation in adaptations],
            "number_of_adaptations": derived(
                count,
                "count",
                tuple(adaptation["year"].value for adaptation in adaptations),
                *sentences,
            ),
            "years_to_first_adaptation": derived(
                int(str(first_year)) - year,
                "difference",
                (year, first_year),
                writing,
                first_quote,
            ),
            "manuscript_survives": denied(fate) if lost else affirmed(fate),
            "won_prize": affirmed(prize_text) if prize else denied(prize_text),
            "translator": absent("translator", "translated", "translation"),
        },
        difficulty="hard",
    )

"""Families of the audio source: meetings, in which people correct one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.sob.generator.drafts import (
    Draft,
    closed,
    described,
    grouped,
    listed,
    nullable,
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
    from collections.abc import Sequence

    from evaluation.suites.sob.generator.drafts import Draw


def _transcript(draw: Draw, turns: Sequence[tuple[str, str]]) -> str:
    """Return turns with their times; chatter stands between some of them."""
    seconds, lines = draw.number(3, 20), []
    speakers = sorted({speaker for speaker, _ in turns})
    for number, (speaker, text) in enumerate(turns):
        if number and draw.chance(0.35):
            other = draw.random.choice(speakers)
            chatter = draw.random.choice(draw.vocabulary["chatter"])
            lines.append((other, chatter))
        lines.append((speaker, text))
    stamped = []
    for speaker, text in lines:
        stamped.append(f"[{seconds // 60}:{seconds % 60:02d}] {speaker}: {text}")
        seconds += draw.number(4, 48)
    return "\n".join(stamped)


def _speakers(draw: Draw, count: int) -> list[str]:
    return [name.upper() for name in draw.words("given", count)]


def action_items(draw: Draw) -> Draft:
    """Tasks are handed out; one of them changes hands."""
    topic = draw.word("topic")
    chair, *others = _speakers(draw, 4)
    tasks = draw.words("task", 3)
    days = [draw.day(2021, 2024) for _ in range(2)]
    owners = [draw.random.choice(others) for _ in tasks]
    first_choice = draw.random.choice([name for name in others if name != owners[0]])
    opening = f"okay let's start this is about {topic}"
    first = f"{first_choice} can you {tasks[0]}"
    no_time = "I have no time for that at all this month"
    change = f"fine then {owners[0]} will {tasks[0]} by {written(days[0])}"
    second = f"{owners[1]} will {tasks[1]} by {written(days[1])}"
    third = f"{owners[2]} will {tasks[2]} whenever there is time"
    no_date = "so no deadline for that one"
    agreed = draw.chance()
    colour, rejected = draw.words("colour", 2)
    decision = f"so we go with {colour} for the case"
    vote = (
        "everybody agrees on that good"
        if agreed
        else f"{others[2]} does not agree with that"
    )
    turns = [
        (chair, opening),
        (others[0], f"I still think {rejected} looks better"),
        (chair, first),
        (first_choice, no_time),
        (chair, change),
        (chair, second),
        (others[1], "and the other thing"),
        (chair, third),
        (owners[2], no_date),
        (chair, decision),
        (chair, vote),
    ]
    return Draft(
        context=_transcript(draw, turns),
        question=(
            "Which action items were assigned in the end, in the order of the meeting, "
            "to whom and until when (YYYY-MM-DD, null without one)? Which colour was "
            "decided on, and did everybody agree? Names as in the transcript."
        ),
        schema=opened(
            {
                "topic": described("string"),
                "chair": described("string"),
                "action_items": listed(
                    closed(
                        {
                            "owner": described("string"),
                            "task": described("string"),
                            "due": nullable("string"),
                        }
                    )
                ),
                "decision": closed(
                    {
                        "colour": described("string"),
                        "is_unanimous": described("boolean"),
                    }
                ),
                "next_meeting": nullable("string", "YYYY-MM-DD"),
            },
            optional=("next_meeting",),
        ),
        truth={
            "topic": stated(topic, opening),
            "chair": stated(chair, f"{chair}: {opening}"),
            "action_items": [
                {
                    "owner": stated(owners[0], change),
                    "task": stated(tasks[0], change),
                    "due": stated(days[0].isoformat(), change),
                },
                {
                    "owner": stated(owners[1], second),
                    "task": stated(tasks[1], second),
                    "due": stated(days[1].isoformat(), second),
                },
                {
                    "owner": stated(owners[2], third),
                    "task": stated(tasks[2], third),
                    "due": unknown(no_date),
                },
            ],
            "decision": {
                "colour": stated(colour, decision),
                "is_unanimous": affirmed(vote) if agreed else denied(vote),
            },
            "next_meeting": absent("next meeting", "meet again"),
        },
        difficulty="hard",
    )


def budget(draw: Draw) -> Draft:
    """A budget is put together; a first figure is taken back."""
    topic = draw.word("topic")
    chair, clerk, other = _speakers(draw, 3)
    posts = draw.words("post", draw.number(2, 3))
    amounts = [100 * draw.number(8, 240) for _ in posts]
    wrong = amounts[0] + 100 * draw.number(3, 40)
    last_year = sum(amounts) + 100 * draw.number(-7, 30)
    opening = f"right the budget for {topic}"
    last = f"last year we spent {grouped(last_year)} euros on it in total"
    lines = [
        f"put down {grouped(amount)} euros for the {post}"
        for post, amount in zip(posts, amounts, strict=True)
    ]
    mistaken = f"put down {grouped(wrong)} euros for the {posts[0]}"
    sorry = f"sorry I read the wrong line, {lines[0]} instead"
    approved = draw.chance()
    vote = (
        "then the budget is approved"
        if approved
        else "then the budget is not approved today"
    )
    objects = draw.chance()
    objection = f"I object because of the {posts[-1]}"
    turns = [(chair, opening), (clerk, last), (clerk, mistaken), (clerk, sorry)]
    turns += [(clerk, line) for line in lines[1:]]
    if objects:
        turns.append((other, objection))
    turns.append((chair, vote))
    total = sum(amounts)
    quotes = (sorry, *lines[1:])
    return Draft(
        context=_transcript(draw, turns),
        question=(
            "List the items of the budget with their final amounts in euros, in the "
            "order in which they were named, their total, and the change from last "
            "year (negative if it is less). Was it approved, and who objected (null if "
            "nobody did; names as in the transcript)?"
        ),
        schema=closed(
            {
                "topic": described("string"),
                "items": listed(
                    closed(
                        {
                            "name": described("string", "without the article"),
                            "amount_eur": described("integer"),
                        }
                    )
                ),
                "total_eur": described("integer"),
                "last_year_eur": described("integer"),
                "change_eur": described("integer"),
                "is_approved": described("boolean"),
                "objection_by": nullable("string"),
                "account": nullable("string", "the account to be charged"),
            },
            optional=("account",),
        ),
        truth={
            "topic": stated(topic, opening),
            "items": [
                {"name": stated(post, quote), "amount_eur": stated(amount, quote)}
                for post, amount, quote in zip(posts, amounts, quotes, strict=True)
            ],
            "total_eur": derived(total, "sum", tuple(amounts), *quotes),
            "last_year_eur": stated(last_year, last),
            "change_eur": derived(
                total - last_year,
                "sum of all but the last less the last",
                (*amounts, last_year),
                *quotes,
                last,
            ),
            "is_approved": affirmed(vote) if approved else denied(vote),
            "objection_by": stated(other, f"{other}: {objection}")
            if objects
            else absent("object", "objection", "against"),
            "account": absent("account", "charged"),
        },
        difficulty="hard",
    )


def incident(draw: Draw) -> Draft:
    """What went wrong, from when to when; a first guess was another."""
    system = draw.word("system")
    cause, guess = draw.words("cause", 2)
    lead, *others = _speakers(draw, 4)
    begin = draw.number(6 * 60, 15 * 60)
    lasted = draw.number(11, 240)
    moments = (begin, begin + lasted, begin + draw.number(2, 10))
    start, end, noticed = (f"{at // 60:02d}:{at % 60:02d}" for at in moments)
    down = f"the {system} went down at {start}"
    alarm = f"though nobody noticed before {noticed}"
    guessed = f"we first took it for {guess}"
    real = f"but in the end it was {cause}"
    back = f"it was up again at {end}"
    responders = others[:2]
    helped = f"{responders[0]} and {responders[1]} worked on it"
    lost = draw.chance(0.4)
    data = "some orders were lost for good" if lost else "no orders were lost"
    has_count = draw.chance()
    customers = draw.number(20, 4_000)
    count = f"about {grouped(customers)} customers saw the error page"
    turns = [
        (lead, f"short review then, {down}"),
        (others[0], alarm),
        (others[1], guessed),
        (others[0], real),
        (lead, back),
        (lead, helped),
        (others[2], "I was on leave that day"),
        (others[2], data),
    ]
    if has_count:
        turns.append((lead, count))
    return Draft(
        context=_transcript(draw, turns),
        question=(
            "Summarise the incident: which system, from when to when (HH:MM), how many "
            "minutes, its real cause, were orders lost, how many customers were "
            "affected, who led the review, who worked on it? Null for what was not "
            "said; names as in the transcript."
        ),
        schema=closed(
            {
                "incident": closed(
                    {
                        "system": described("string", "without the article"),
                        "start": described("string", "HH:MM"),
                        "end": described("string", "HH:MM"),
                        "minutes": described("integer"),
                        "cause": described("string"),
                        "lost_orders": described("boolean"),
                        "customers_affected": nullable("integer"),
                    }
                ),
                "review_led_by": described("string"),
                "responders": listed(described("string")),
                "ticket": nullable("string"),
            },
            optional=("ticket",),
        ),
        truth={
            "incident": {
                "system": stated(system, down),
                "start": stated(start, down),
                "end": stated(end, back),
                "minutes": derived(lasted, "minutes between", (start, end), down, back),
                "cause": stated(cause, real),
                "lost_orders": affirmed(data) if lost else denied(data),
                "customers_affected": stated(customers, count)
                if has_count
                else absent("customers", "customer"),
            },
            "review_led_by": stated(lead, f"{lead}: short review"),
            "responders": [stated(name, helped) for name in responders],
            "ticket": absent("ticket", "issue number"),
        },
    )

"""Draw schemas and texts for `fuzz`: from the grammar of keywords, mutated and crossed.

A text counts only if both validators say the same of it, formats asserted or not, and
by each interpretation of its schema.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed
from hypothesis import strategies as st

from bench.schema_strategies import schemas
from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import Interpretations, read_schema
from curation.instances.near_misses.search import Effort, find_near_misses
from curation.instances.search.witnesses import Budget, find_witnesses
from curation.instances.validators import verdicts_of_each
from curation.instances.values.json_text import text_of
from curation.schema.dialects import BY_NAME, DIALECTS, Dialect, declared
from curation.schema.subschemas import edited, subschema_locations, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.validators import Verdicts

_NEWEST = DIALECTS[-1]
_BUDGET = Budget(steps=2_000, full=20, random=12, count=3)
_EFFORT = Effort(verdicts=200, types=50, tries=8, searches=4)
#: Characters of a real schema that others are crossed with.
_SHORT = 700
_LEAVES = 5
#: Texts of one schema: witnesses, and near misses by other keywords than `type`.
_NEAR_MISSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A value's JSON text, and what both validators say of it."""

    text: str
    valid: bool
    #: The keyword that refuses it; empty for a valid one.
    keyword: str = ""


def dialect_of(schema: Json) -> Dialect:
    """Return the dialect that a schema declares, else the newest."""
    named = declared(schema.get("$schema")) if isinstance(schema, dict) else None
    return named if named in DIALECTS else _NEWEST


def read(schema: Json) -> Interpretations | None:
    """Return a schema with its interpretations; None if it is none."""
    compiled = read_schema(json.dumps(schema), dialect_of(schema).name)
    if isinstance(compiled, Rejected):
        return None
    try:
        compiled.validator  # noqa: B018 - compiled here, so that a fault shows
    except ValueError:
        return None
    return Interpretations.of(compiled)


def agreed(said: Verdicts) -> bool | None:
    """Return the verdict that all validators and interpretations share, or None."""
    each = {
        *(said.jsonschema_rs, said.jsonschema_rs_plain),
        *(said.jsonschema, said.jsonschema_plain),
    }
    if said.heeding is not None:
        each.add(agreed(said.heeding))
    return each.pop() if len(each) == 1 else None


def judge(readings: Interpretations, value: Json) -> bool | None:
    """Return whether a value is valid; None if that is disputed."""
    return agreed(verdicts_of_each(readings, value, ask_jsonschema=True))


def refusing_keywords(readings: Interpretations, value: Json) -> set[str]:
    """Return the keywords that refuse a value, as jsonschema-rs names them."""
    return {
        next(
            (step for step in reversed(error.schema_path) if isinstance(step, str)), ""
        )
        for error in readings.own.validator.iter_errors(value)
    }


def texts_of(readings: Interpretations, seed: int) -> list[Text]:
    """Return texts on which both validators agree: witnesses, then near misses."""
    compiled = readings.own
    witnesses = find_witnesses(compiled, seed, _BUDGET).witnesses
    near = find_near_misses(compiled, witnesses, seed, _NEAR_MISSES, _EFFORT)
    values: list[tuple[Json, str]] = [(each.value, "") for each in witnesses]
    values += [(each.value, each.keyword) for each in near]
    return [
        Text(text=text_of(value), valid=not keyword, keyword=keyword)
        for value, keyword in values
        if judge(readings, value) is (not keyword)
    ]


def drawn(seed: int, count: int) -> list[dict[str, Json]]:
    """Return schemas from the grammar of each dialect's keywords."""
    found: list[dict[str, Json]] = []
    dialects = st.sampled_from([dialect.name for dialect in DIALECTS])

    @with_seed(seed)
    @settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(dialects.flatmap(_of_dialect))
    def draw(schema: dict[str, Json]) -> None:
        found.append(schema)

    draw()
    return found


def _of_dialect(name: str) -> Any:  # noqa: ANN401 - a strategy
    return schemas(name, satisfiable=False, leaves=_LEAVES)


def short_schemas(texts: Iterable[str | None]) -> list[dict[str, Json]]:
    """Return the short ones of real schemas, to cross with."""
    parsed = (json.loads(text) for text in texts if text and len(text) < _SHORT)
    return [schema for schema in parsed if isinstance(schema, dict)]


def mutated(
    pool: Sequence[dict[str, Json]], rng: random.Random, count: int
) -> Iterator[dict[str, Json]]:
    """Yield schemas of a pool, each with one to three edits."""
    for _ in range(count):
        schema = rng.choice(pool)
        for _ in range(rng.randint(1, 3)):
            changed = _mutate(schema, rng.choice(pool), rng)
            schema = changed if isinstance(changed, dict) else schema
        yield schema


def _mutate(schema: dict[str, Json], donor: Json, rng: random.Random) -> Json:
    """Return a schema with one subschema replaced, merged, wrapped or cut."""
    dialect = dialect_of(schema)
    places = [each.tokens for each in subschema_locations(schema, dialect)]
    place = rng.choice(places)
    parts = [
        {name: part[name] for name in part if not name.startswith("$")}
        for part in subschemas(donor, dialect)
        if '"$ref"' not in json.dumps(part)
    ]
    part: dict[str, Json] = rng.choice(parts) if parts else {}
    how = rng.choice(("replace", "merge", "merge", "cut", "allOf", "anyOf", "not"))

    def edit(tokens: tuple[str, ...], own: Json) -> Json:
        if tokens != place or not isinstance(own, dict):
            return own
        if how == "replace" and tokens:
            return part
        if how == "cut" and own:
            gone = rng.choice(list(own))
            return {name: value for name, value in own.items() if name != gone}
        if how == "merge":
            return {**part, **own}
        if how == "not" or how in own:
            return {**own, "not": part}
        return {**own, how: [part, {"type": own["type"]} if "type" in own else {}]}

    return edited(schema, BY_NAME[dialect.name], edit)

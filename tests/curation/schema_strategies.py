"""A Hypothesis strategy of JSON Schemas, for property tests and the fuzzer.

Smaller draws come first, so that Hypothesis shrinks towards what is only required.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from hypothesis import strategies as st

from curation.core.documents import Rejected
from curation.instances.constraints.interpretations import read_schema
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.schema.dialects import (
    BY_NAME,
    DRAFT_04,
    DRAFT_06,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from curation.core.json_types import Json, UntypedJson

    #: Lists of strings and lists of schemas are one to these: `list` is invariant.
    Schemas: TypeAlias = SearchStrategy[UntypedJson]
    #: Strategies of the values of keywords, by keyword.
    Keywords: TypeAlias = dict[str, Schemas]


_NAMES = ("a", "b", "name", "id", "naïve key", "x-1")
#: ECMA-262 patterns, the last two beyond what Python's `re` reads the same way.
_PATTERNS = (
    "^[a-z]+$",
    "^(?:yes|no)$",
    "[0-9]{2,4}",
    "^x-",
    "^[^\\s]{1,8}$",
    "^\\d{3}$",
    "^\\p{Lu}",
)
_FORMATS = ("date", "date-time", "email", "ipv4", "ipv6", "uri", "hostname")
_ENUMERATED: tuple[Json, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1.5,
    "",
    "a",
    "b",
    [],
    {},
    [1],
    {"a": "b"},
)
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


class SchemaGrammar:
    """The strategies of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        """Take the dialect; nothing is drawn yet."""
        self._dialect = dialect
        self._holder = (
            "$defs" if dialect.order >= DRAFT_2019_09.order else "definitions"
        )

    def _since(self, dialect: Dialect) -> bool:
        return self._dialect.order >= dialect.order

    def documents(self, leaves: int) -> SearchStrategy[dict[str, Json]]:
        """Draw whole schemas: `$schema`, sometimes definitions, and the rest."""
        inner = st.recursive(self._leaves(), self._branches, max_leaves=leaves)

        def document(body: Json, shared: Json) -> dict[str, Json]:
            members = body if isinstance(body, dict) else {}
            if body is False:
                members = {"not": {}}
            head: dict[str, Json] = {"$schema": self._dialect.uri, **members}
            if _refers(body) or shared is not None:
                head[self._holder] = {"shared": {} if shared is None else shared}
            return head

        return st.builds(document, inner, st.none() | inner)

    def _leaves(self) -> Schemas:
        plain = st.sampled_from([{"type": name} for name in _TYPES])
        several = st.lists(
            st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True
        ).map(lambda types: {"type": types})
        values = st.lists(
            st.sampled_from(_ENUMERATED), min_size=1, max_size=4, unique_by=repr
        ).map(lambda enumerated: {"enum": enumerated})
        reference = st.just({"$ref": f"#/{self._holder}/shared"})
        own: list[Schemas] = [
            plain,
            self._numbers(),
            self._strings(),
            values,
            several,
            reference,
        ]
        if self._since(DRAFT_06):
            own.append(st.sampled_from(_ENUMERATED).map(lambda value: {"const": value}))
            own.append(st.booleans())
        return st.one_of(own)

    def _numbers(self) -> Schemas:

        def build(kind: str, least: int, span: int, words: set[str]) -> Json:
            schema: dict[str, Json] = {"type": kind}
            if "least" in words:
                schema["minimum"] = least
            if "most" in words:
                schema["maximum"] = least + span
            if "strict" in words and "least" in words:
                if self._dialect is DRAFT_04:
                    schema["exclusiveMinimum"] = True
                else:
                    schema["exclusiveMinimum"] = schema.pop("minimum")
            if "multiple" in words:
                schema["multipleOf"] = 5 if kind == "integer" else 0.5
            return schema

        return st.builds(
            build,
            st.sampled_from(("integer", "number")),
            st.integers(-100, 100),
            st.integers(5, 50),
            st.sets(st.sampled_from(("least", "most", "strict", "multiple"))),
        )

    def _strings(self) -> Schemas:
        lengths = st.tuples(st.integers(0, 5), st.integers(0, 8)).map(
            lambda pair: {
                "type": "string",
                "minLength": pair[0],
                "maxLength": pair[0] + pair[1],
            }
        )
        patterns = st.sampled_from(_PATTERNS).map(
            lambda pattern: {"type": "string", "pattern": pattern}
        )
        formats = st.sampled_from(_FORMATS).map(
            lambda name: {"type": "string", "format": name}
        )
        return lengths | patterns | formats

    def _branches(self, inner: Schemas) -> Schemas:
        several = st.lists(inner, min_size=1, max_size=3)
        own = [self._objects(inner), self._arrays(inner)]
        own += [_keyed(several, keyword) for keyword in ("anyOf", "oneOf", "allOf")]
        own.append(_keyed(inner, "not"))
        if self._since(DRAFT_07):
            own.append(
                st.fixed_dictionaries(
                    {"if": inner}, optional={"then": inner, "else": inner}
                )
            )
        return st.one_of(own)

    def _objects(self, inner: Schemas) -> Schemas:
        names = st.sampled_from(_NAMES)
        if self._dialect is DRAFT_04:
            required = st.lists(names, min_size=1, max_size=3, unique=True)
        else:
            required = st.lists(names, max_size=3, unique=True)
        optional: Keywords = {
            "properties": st.dictionaries(names, inner, max_size=4),
            "required": required,
            "additionalProperties": inner | st.booleans(),
            "patternProperties": st.dictionaries(
                st.sampled_from(_PATTERNS), inner, max_size=1
            ),
            "minProperties": st.integers(0, 3),
            "maxProperties": st.integers(2, 6),
        }
        if self._since(DRAFT_06):
            optional["propertyNames"] = self._strings()
        optional |= self._dependencies(inner)
        if self._since(DRAFT_2019_09):
            optional["unevaluatedProperties"] = inner
        return self._some({"type": st.just("object")}, optional)

    def _dependencies(self, inner: Schemas) -> Keywords:
        names = st.sampled_from(_NAMES)
        name_lists = st.lists(names, min_size=1, max_size=2, unique=True)
        if not self._since(DRAFT_2019_09):
            schema = inner.filter(lambda schema: isinstance(schema, dict))
            return {
                "dependencies": st.dictionaries(names, name_lists | schema, max_size=2)
            }
        return {
            "dependentRequired": st.dictionaries(names, name_lists, max_size=2),
            "dependentSchemas": st.dictionaries(names, inner, max_size=2),
        }

    def _arrays(self, inner: Schemas) -> Schemas:
        tuples = st.lists(inner, min_size=1, max_size=3)
        optional: Keywords = {
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(2, 6),
            "uniqueItems": st.booleans(),
        }
        if self._since(DRAFT_2020_12):
            optional |= {"items": inner, "prefixItems": tuples}
        else:
            optional |= {
                "items": inner | tuples,
                "additionalItems": inner | st.booleans(),
            }
        if self._since(DRAFT_06):
            optional["contains"] = inner
        if self._since(DRAFT_2019_09):
            optional["minContains"] = st.integers(0, 2)
            optional["maxContains"] = st.integers(2, 3)
            optional["unevaluatedItems"] = inner
        return self._some({"type": st.just("array")}, optional)

    def _some(self, always: Keywords, optional: Keywords) -> Schemas:
        def choose(words: list[str]) -> Schemas:
            selection = {word: optional[word] for word in words}
            return st.fixed_dictionaries({**always, **selection})

        words = st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True)
        return words.flatmap(choose)


def _keyed(strategy: Schemas, keyword: str) -> Schemas:
    def wrapped(value: Json) -> Json:
        return {keyword: value}

    return strategy.map(wrapped)


def _refers(schema: Json) -> bool:
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if "$ref" in value:
                return True
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return False


def schemas(
    dialect: str = "2020-12", *, satisfiable: bool = True, leaves: int = 12
) -> SearchStrategy[dict[str, Json]]:
    """Draw schemas of a dialect, each with its `$schema`.

    They are valid under the metaschema.

    Args:
        dialect: `draft-04`, `draft-06`, `draft-07`, `2019-09` or `2020-12`.
        satisfiable: Draw only schemas of which an instance is known.
        leaves: Bounds how many schemas without subschemas one is made of.

    Raises:
        KeyError: there is no such dialect.
    """

    def has_witness(schema: Json) -> bool:
        compiled = read_schema(json.dumps(schema), dialect)
        return not isinstance(compiled, Rejected) and bool(
            find_witnesses(compiled, 0, Budget(full=0, random=0, count=2)).witnesses
        )

    documents = SchemaGrammar(BY_NAME[dialect]).documents(leaves)
    return documents.filter(has_witness) if satisfiable else documents

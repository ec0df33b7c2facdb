"""Does a schema accept every value but objects? Such a root was meant otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from curation.json.pointer import at, tokens_of
from curation.lint.contradictions import named_types
from curation.schema.keywords import keywords_about
from curation.schema.roots import TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from curation.schema.dialects import Dialect

#: Keywords that only objects can fail.
_OF_OBJECTS = keywords_about("object")
_OTHERS = TYPES - {"object", "integer"}
#: Keywords that are dealt with apart, or that accept everything by themselves.
_APART = frozenset(
    {
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$recursiveAnchor",
        "$ref",
        "$vocabulary",
        "definitions",
        "else",
        "id",
        "then",
        "type",
    }
)


def accepts_every_non_object(schema: UntypedJson, dialect: Dialect) -> bool:
    """Tell whether a schema surely accepts every value that is no object."""
    try:
        return _Judge(schema, dialect).accepts(schema)
    except RecursionError:
        return False


class _Judge:
    """Follows references, each once."""

    def __init__(self, root: UntypedJson, dialect: Dialect) -> None:
        self._root = root
        self._dialect = dialect
        #: References to answers; one that is still open counts as no.
        self._known: dict[str, bool] = {}

    def accepts(self, schema: UntypedJson) -> bool:
        """Tell it of one schema."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            return False
        if "$ref" in schema:
            if not self._target_accepts(schema["$ref"]):
                return False
            if self._dialect.ref_hides_siblings:
                return True
        types = named_types(schema)
        if types is not None and not types >= _OTHERS:
            return False
        asserting = (schema.keys() & self._dialect.effective) - _OF_OBJECTS - _APART
        return all(self._passes(word, schema) for word in asserting)

    def _passes(self, word: str, schema: Mapping[str, UntypedJson]) -> bool:
        value = schema[word]
        if word == "if":
            branches = (schema.get("then", True), schema.get("else", True))
            return all(self.accepts(each) for each in branches)
        if word not in ("allOf", "anyOf", "oneOf") or not isinstance(value, list):
            return False
        if word == "oneOf":
            return len(value) == 1 and self.accepts(value[0])
        each = (self.accepts(inner) for inner in value)
        return any(each) if word == "anyOf" else all(each)

    def _target_accepts(self, reference: UntypedJson) -> bool:
        """Tell it of the target of a local pointer; any other reference is unsure."""
        local = isinstance(reference, str) and reference.startswith("#/")
        if not local and reference != "#":
            return False
        if reference not in self._known:
            self._known[reference] = False
            try:
                target = at(self._root, tokens_of(unquote(reference[1:])))
            except (LookupError, ValueError):
                return False
            self._known[reference] = self.accepts(target)
        return self._known[reference]

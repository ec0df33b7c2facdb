"""The classes of mistakes, after the paper's section 6.7."""

from __future__ import annotations

from typing import Final

from curation.core.documents import Explained


class Mistake(Explained):
    """What is wrong with an answer; the gravest first."""

    NO_ANSWER = ("no_answer", "the model gave no answer at all")
    PARSE = ("parse", "the answer is no JSON text with an object or array as its root")
    UNUSABLE_SCHEMA = (
        "unusable_schema",
        "no validator takes the record's schema, so that no answer can pass",
    )
    SCHEMA = ("schema", "JSON that the schema does not accept")
    VALUE = ("value", "a right path with a wrong value")
    MISSING_PATH = ("missing_path", "a path of the truth that the answer lacks")
    SPURIOUS_PATH = ("spurious_path", "a path that the truth does not have")
    TYPE = ("type", 'the right value as another JSON type, such as "42" for 42')


#: The classes of single leaves, in the order of `Mistake`.
LEAF_MISTAKES: Final = (
    Mistake.VALUE,
    Mistake.MISSING_PATH,
    Mistake.SPURIOUS_PATH,
    Mistake.TYPE,
)

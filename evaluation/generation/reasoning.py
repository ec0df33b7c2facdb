"""What a reasoning model thought, told apart from what it answered.

Servers that are told which model they run put thoughts in a member of their own; all
others leave them in the text, between the tags that the model was trained with.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
#: How a JSON text begins that is no number, word or nothing.
_JSON_BEGINS: Final = ("{", "[", '"')


class ThoughtAndAnswer(NamedTuple):
    """The two parts of a text."""

    #: None where the text has no thought in tags.
    thought: str | None
    answer: str


def split_thought(text: str) -> ThoughtAndAnswer:
    """Return what stands in `<think>` tags at a text's beginning, and the rest.

    A thought whose end never came is all of the text, and there is no answer. The
    opening tag may be missing: prompts of some models end with it.

    Example:
        >>> split_thought("<think>An object.</think>{}")
        ThoughtAndAnswer(thought='An object.', answer='{}')
        >>> split_thought('{"tag": "</think>"}').thought is None
        True
    """
    begun = text.lstrip()
    tagged = begun.startswith(_OPEN)
    if not tagged and (_CLOSE not in text or begun.startswith(_JSON_BEGINS)):
        return ThoughtAndAnswer(None, text)
    thought, _, answer = begun.removeprefix(_OPEN).partition(_CLOSE)
    return ThoughtAndAnswer(thought.strip(), answer.lstrip())

"""Prompts: a template file, worked examples, and a schema make a conversation.

A template is text in parts, each under a line `--- system`, `--- user` or
`--- assistant`. A part `--- each shot: user` is repeated for every worked example.
Parts are Jinja templates over `schema`, `shots` and, where repeated, `shot`; they
are split before anything is filled in, so no schema can add a turn.

The instruction and the sections are from Figure 3 of the JSONSchemaBench paper
(arXiv 2501.10868), its worked examples are not: most of those are records of the
benchmark. Ours were written for this project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from curation.system.errors import BadConfiguration, NoInput
from evaluation.core.records import Message

_FOLDER = Path(__file__).parent
_SHOTS = _FOLDER / "shots.json"
_PART = re.compile(r"^--- (each shot: )?(system|user|assistant)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedExample:
    """A worked example: a schema and an instance of it, as JSON texts."""

    schema: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    role: str
    repeated: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A conversation with gaps for a schema and worked examples.

    Example:
        >>> template = read_template("sections")
        >>> messages = template.fill('{"type": "null"}', worked_examples(2))
        >>> [message.role for message in messages]
        ['system', 'user']
    """

    name: str
    #: The file's text; part of a run's header.
    text: str
    parts: tuple[_Part, ...]

    def fill(self, schema: str, shots: Sequence[WorkedExample]) -> tuple[Message, ...]:
        """Return the conversation that asks for an instance of the schema.

        Args:
            schema: The schema, a JSON text.
            shots: Worked examples.

        Raises:
            BadConfiguration: the template uses a name that is not defined.
        """
        messages: list[Message] = []
        for is_repeated, parts in groupby(self.parts, lambda part: part.repeated):
            turns = list(parts)
            for shot in shots if is_repeated else (None,):
                messages += [self._message(turn, schema, shots, shot) for turn in turns]
        return tuple(messages)

    def _message(
        self,
        part: _Part,
        schema: str,
        shots: Sequence[WorkedExample],
        shot: WorkedExample | None,
    ) -> Message:
        values: dict[str, object] = {"schema": schema, "shots": shots}
        if shot is not None:
            values["shot"] = shot
        try:
            content = _compiled(part.text).render(values)
        except (jinja2.TemplateError, ArithmeticError, TypeError, ValueError) as error:
            message = (
                f"--set prompt={self.name}: {error}; a part may use schema and shots"
            )
            raise BadConfiguration(message) from error
        return Message(role=part.role, content=content.strip())


@cache
def _compiled(text: str) -> jinja2.Template:
    return SandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False
    ).from_string(text)


def template_names() -> tuple[str, ...]:
    """Return the names of the templates that come with csbdata."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


def read_template(which: str) -> Template:
    """Return a template by its name or its file's path.

    Raises:
        NoInput: unknown template.
        BadConfiguration: its last part is not a question.
    """
    path = _FOLDER / f"{which}.txt" if which in template_names() else Path(which)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        names = ", ".join(template_names())
        message = (
            f"--set prompt={which}: no such template; choose {names}, or name a file"
        )
        raise NoInput(message) from error
    parts = tuple(
        _Part(
            role=cut[2],
            repeated=bool(cut[1]),
            text=text[cut.end() : after and after.start()].strip(),
        )
        for cut, after in pairwise([*_PART.finditer(text), None])
        if cut
    )
    if not parts or parts[-1].role != "user" or parts[-1].repeated:
        message = (
            f"--set prompt={which}: its last part must be a line `--- user` and what"
        )
        raise BadConfiguration(f"{message} is asked; see docs/evaluation.md")
    return Template(name=which, text=text, parts=parts)


def worked_examples(count: int) -> tuple[WorkedExample, ...]:
    """Return the first worked examples, as compact JSON texts.

    Raises:
        BadConfiguration: not enough of them.
    """
    shots = json.loads(_SHOTS.read_text(encoding="utf-8"))
    if not 0 <= count <= len(shots):
        message = f"shots={count}: there are {len(shots)} worked examples"
        raise BadConfiguration(f"{message}; say 0 to {len(shots)}")
    return tuple(
        WorkedExample(
            schema=json.dumps(shot["schema"]), output=json.dumps(shot["output"])
        )
        for shot in shots[:count]
    )

"""The table of envelopes: how one right answer may be written by different models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.download.cache import FetchSettings
from evaluation.answers.extraction import outer_fence, split_thinking
from evaluation.core.records import Record, RecordRequest, Response
from evaluation.runner.request import choose_suite
from evaluation.suites.ifstruct.rows import read_record
from tests.evaluation.suites.known_answers import known_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.records import Verdict
    from evaluation.core.suite import Judge
    from evaluation.runner.request import SuiteChoice


class Kind(StrEnum):
    """What an envelope adds to an answer."""

    NOTHING = "nothing"
    """Nothing that any request is about: thinking, white space, end tokens."""
    FENCE = "fence"
    """A code block around the bare content."""
    COMMENTARY = "commentary"
    """Words around the whole answer."""
    BLOCKS = "blocks"
    """A second code block."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One way to write an answer."""

    name: str
    kind: Kind
    #: Returns the text; of a fence with the language that is named, `@`.
    template: str
    crlf: bool = False

    def around(self, text: str, language: str = "") -> str:
        """Return a text in this envelope."""
        written = self.template.replace("@", language, 1).replace("%", text, 1)
        return written.replace("\n", "\r\n") if self.crlf else written


_FENCE: Final = "```@\n%\n```"
_TAGS: Final = {
    "in tags": "<think>Two, or {three}?</think>\n",
    "in capitals": "<THINK>Hm. [1]</THINK>",
    "of another tag": "<thinking>\n```json\n{}\n```\n</thinking>\n\n",
    "of a third tag": "<reasoning>so</reasoning>",
    "in brackets": "[THINK]{[/THINK]\n",
    "in small brackets": "[think]a[/think] ",
    "that names its tag": "<think>I must not use <think> tags.</think>\n",
    "that names its end": "<think>I close with </think>, then go on.</think>\n",
    "that names others": "<think>No <reasoning> and no [THINK].</think>",
    "twice": "<think>a</think>\n<think>b</think>\n",
    "without its beginning": "so it is\n</think>\n\n",
    "of nothing": "<think>\n\n</think>\n\n",
    "of Seed": "<seed:think>{</seed:think>",
    "of Kimi": "\u25c1think\u25b7[1]\u25c1/think\u25b7",
    "of Gemini": "<thought>\nso</thought>\n",
    "in the channel of a format": "<|channel|>final <|constrain|>json<|message|>",
    "in channels": (
        "<|channel|>analysis<|message|>hm {<|end|><|start|>assistant"
        "<|channel|>final<|message|>"
    ),
    "in bare channels": "analysisWe add.assistantfinal",
}
_ENDS: Final = (
    *("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<|end|>", "<end_of_turn>", "</s>", "<|im_end|>\n</s> "),
    *("<eos>", "<|eom_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>"),
)
ENVELOPES: Final = (
    Envelope("as it is", Kind.NOTHING, "%"),
    Envelope("blank before", Kind.NOTHING, " %"),
    Envelope("line before", Kind.NOTHING, "\n\n%"),
    Envelope("space behind", Kind.NOTHING, "% \n\t"),
    Envelope("byte order mark", Kind.NOTHING, "\ufeff%"),
    Envelope("CRLF", Kind.NOTHING, "%\n", crlf=True),
    Envelope("CRLF and blank", Kind.NOTHING, " \n%", crlf=True),
    *(Envelope(f"end token {end!r}", Kind.NOTHING, f"%{end}") for end in _ENDS),
    *(
        Envelope(f"thinking {name}", Kind.NOTHING, f"{text}%")
        for name, text in _TAGS.items()
    ),
    Envelope(
        "all of it", Kind.NOTHING, "\ufeff\n<Think>{</think>\n %\n</s>", crlf=True
    ),
    Envelope("fence", Kind.FENCE, _FENCE),
    Envelope("fence in capitals", Kind.FENCE, "```@\n%\n```\n"),
    Envelope("blank before fence", Kind.FENCE, f" {_FENCE}"),
    Envelope("line before fence", Kind.FENCE, f"\n{_FENCE}\n\n"),
    Envelope("space behind fences", Kind.FENCE, "```@ \n%\n```  "),
    Envelope("thinking before fence", Kind.FENCE, f"<think>```</think>{_FENCE}"),
    Envelope("CRLF in fence", Kind.FENCE, _FENCE, crlf=True),
    Envelope("words before", Kind.COMMENTARY, "Here it is:\n\n%"),
    Envelope("words after", Kind.COMMENTARY, "%\n\nHope this helps!"),
    Envelope("words around", Kind.COMMENTARY, "Sure.\n%\nThat is all."),
    Envelope("words on the last line", Kind.COMMENTARY, "% Hope this helps!"),
    Envelope("two blocks", Kind.BLOCKS, f"{_FENCE}\n```@\n%\n```"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """A right answer to one record, with what its prompt says of form."""

    record: Record
    judge: Judge
    #: The whole answer, and its content outside of a code block.
    text: str
    #: Languages that a code block may name; none where a block is not taken.
    languages: tuple[str, ...]
    #: Whether the prompt lets words stand around it.
    talk: bool

    def verdict(self, text: str) -> Verdict:
        """Return the verdict on a text."""
        return self.judge(Response(record=self.record.key, text=text))

    @property
    def content(self) -> str:
        """The answer outside of a code block."""
        return outer_fence(self.text)

    def written(self, envelope: Envelope) -> Iterator[tuple[str, bool]]:
        """Yield the texts in an envelope, and whether each of them is right."""
        match envelope.kind:
            case Kind.NOTHING:
                yield envelope.around(self.text), True
            case Kind.COMMENTARY:
                yield envelope.around(self.text), self.talk
            case Kind.FENCE:
                for language in self.languages or ("json",):
                    named = (
                        language.upper() if "capitals" in envelope.name else language
                    )
                    yield envelope.around(self.content, named), bool(self.languages)
            case Kind.BLOCKS:
                right = bool(self.languages) and self.talk
                language = (self.languages or ("json",))[0]
                block = envelope.around(self.content, language)
                yield block.replace("@", language).replace("%", self.content), right


#: The schemas of suites without a generator.
_SCHEMAS: Final = (
    {
        "type": "object",
        "properties": {"size": {"type": "integer"}},
        "required": ["size"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
)
_WITNESSES: Final = ('{"size": 1}', '["a"]')
_BLOCKS: Final = ("json", "")
#: Of each suite: languages of a code block, and whether words may stand around.
_FORMS: Final = {
    "passrate": (_BLOCKS, False),
    "sob": (_BLOCKS, True),
    "coverage": ((), False),
    "quality": (_BLOCKS, True),
    "concodeeval": (_BLOCKS, True),
}


def own_records(choice: SuiteChoice, count: int, seed: int) -> list[Record]:
    """Return records that a suite generates, its sample, or schemas of ours."""
    suite = choice.suite
    if suite.generate is not None:
        return list(islice(suite.generate(count, seed, choice.settings), count))
    if suite.records is not None and suite.published:
        fetch = FetchSettings(mirror=None, cache=Path())
        request = RecordRequest(data=None, fetch=fetch, first=True, limit=count)
        return list(suite.records(request, choice.settings).records)[:count]
    return [
        Record(id=witness, schema=json.dumps(schema), fields={"witnesses": [witness]})
        for schema, witness in zip(_SCHEMAS, _WITNESSES, strict=True)
    ]


@cache
def right_answers(suite: str, count: int = 24) -> list[RightAnswer]:
    """Return right answers to records of a suite's own."""
    choice = choose_suite(suite, {})
    records = own_records(choice, count, 5)
    score = choice.suite.scorer(choice.settings)
    answers = []
    for record in records:
        known = known_answers(choice, record)
        right = next((one for one in known if not one.expected), None)
        if right is None or right.text is None:
            continue
        languages, talk = _form(suite, record)
        answers.append(
            RightAnswer(
                record=record,
                judge=score(record),
                text=split_thinking(right.text).answer,
                languages=languages,
                talk=talk,
            )
        )
    return answers


def _form(suite: str, record: Record) -> tuple[tuple[str, ...], bool]:
    if suite != "ifstruct":
        return _FORMS[suite]
    wanted = read_record(record.fields)
    wish, _, language = wanted.wish.partition(":")
    languages = (language,) if language else (wanted.output_format, "")
    return () if wish == "forbidden" else languages, not wanted.require_no_commentary

"""The sentences of the prompts, read from `prompt_texts.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evaluation.core.messages import Message
from evaluation.core.suite_records import SuitePrompt
from evaluation.suites.concodeeval.answers.read_answer import Output
from evaluation.suites.concodeeval.representations.registry import REPRESENTATIONS

if TYPE_CHECKING:
    from evaluation.suites.concodeeval.fields import RecordFields
    from evaluation.suites.concodeeval.settings import ConcodeSettings

_FILE: Final = Path(__file__).with_name("prompt_texts.toml")
#: The open fence that a base form ends with.
OPEN_FENCE: Final = "```\n"
_ARTICLES: Final = {Output.JSON: "a JSON", Output.YAML: "a YAML", Output.XML: "an XML"}


@cache
def _texts() -> dict[str, dict[str, str]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def sentence(section: str, name: str, fields: RecordFields) -> str:
    """Return one sentence about the formats of a record, its gaps filled in.

    What is filled in are names of formats, never anything of a schema or a sample.

    Args:
        section: The table of the file.
        name: The sentence in it.
        fields: The record.
    """
    output = _ARTICLES[fields.output]
    if section == "validation":
        output = fields.output.upper()
    title = REPRESENTATIONS[fields.representation].title
    text = _texts()[section][name].strip()
    return text.replace("{output}", output).replace("{input}", title)


def suite_prompt(
    body: str, tail: str, budget: int, fields: RecordFields, settings: ConcodeSettings
) -> SuitePrompt:
    """Return a prompt in the form that the settings name.

    Args:
        body: The question.
        tail: What a base form ends with, before the open fence.
        budget: Most tokens of the answer.
        fields: The record.
        settings: The form, its template and its system prompt.
    """
    system = ""
    if settings.system != "none":
        system = sentence("system", settings.system, fields)
    if settings.form == "chat":
        turns = [Message(role="system", content=system)] if system else []
        turns.append(Message(role="user", content=body))
        return SuitePrompt(messages=tuple(turns), budget=budget)
    text = f"{body}\n\n{tail}\n{OPEN_FENCE}"
    if settings.template in ("question", "question_fence"):
        text = f"Question:\n{body}\n\nAnswer:\n{OPEN_FENCE}"
    if settings.template == "inst":
        text = f"[INST] {text.rstrip()} [/INST]"
    if system:
        text = f"{system}\n\n{text}"
    turn = Message(role="user", content=text)
    return SuitePrompt(messages=(turn,), budget=budget)

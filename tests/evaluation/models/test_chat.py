"""Chat templates: what one loses, refuses or dates is found out and put right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from transformers import PreTrainedTokenizerFast

from curation.system.errors import BadConfiguration
from evaluation.core.records import Message
from evaluation.models.chat import TEMPLATE_DATE, ChatPrompts
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

_TURNS = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
_REFUSES = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}"
)
_DROPS = (
    "{% for m in messages %}{% if m['role'] != 'system' %}"
    "<{{ m['role'] }}>{{ m['content'] }}{% endif %}{% endfor %}"
)
_PARTS = (
    "{% for m in messages %}<{{ m['role'] }}>"
    "{% for part in m['content'] %}{{ part['text'] }}{% endfor %}{% endfor %}"
)
_ASKED = [
    Message(role="system", content="obey"),
    Message(role="user", content="first"),
    Message(role="assistant", content="answer"),
    Message(role="user", content="last"),
]


def _prompts(folder: Path, template: str | None) -> ChatPrompts:
    made.byte_level(folder)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=made.END,
        chat_template=template,
    )
    prompts = ChatPrompts(tokenizer, "tester/model")
    prompts.spell = tokenizer.decode  # type: ignore[attr-defined]  # for the tests alone
    return prompts


def _text(folder: Path, template: str | None) -> str:
    prompts = _prompts(folder, template)
    return str(prompts.spell(prompts.tokens(_ASKED)))  # type: ignore[attr-defined]  # as above


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        (_TURNS, "<system>obey<user>first<assistant>answer<user>last"),
        (_REFUSES + _TURNS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (_DROPS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (_PARTS, "<system>obey<user>first<assistant>answer<user>last"),
        (_REFUSES + _PARTS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (None, "obey\n\nfirst\n\nanswer\n\nlast\n\n"),
    ],
)
def test_every_turn_is_in_the_prompt(
    tmp_path: Path, template: str | None, wanted: str
) -> None:
    """A template without a system turn, or with contents in parts, loses no word."""
    assert _text(tmp_path, template) == wanted


def test_a_template_that_takes_nothing_is_told(tmp_path: Path) -> None:
    """The model's name and the template's own words are one line."""
    with pytest.raises(BadConfiguration, match=r"tester/model.*never") as caught:
        _prompts(tmp_path, "{{ raise_exception('never') }}")
    assert caught.value.then


def test_the_day_is_pinned_and_recorded(tmp_path: Path) -> None:
    """A template that asks for today is told the same day on every day."""
    dated = "{{ strftime_now('%Y-%m-%d') }} " + _TURNS
    assert _text(tmp_path, dated).startswith(f"{TEMPLATE_DATE} ")
    assert _prompts(tmp_path, dated).facts()["template_date"] == TEMPLATE_DATE

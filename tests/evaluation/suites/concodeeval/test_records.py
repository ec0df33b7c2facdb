"""Records: one for each schema, representation, format and sample; their prompts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration
from evaluation.asking.request import choose_suite
from evaluation.core.suite import RecordRequest
from evaluation.suites.concodeeval.prompts import prompt
from evaluation.suites.concodeeval.records import records
from evaluation.suites.concodeeval.settings import (
    ConcodeSettings,
    as_published,
    fields_of,
)
from tests.evaluation.suites.concodeeval.drawn import made_records

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json

_SMALL = ConcodeSettings(representations="python,nl", outputs="json,xml", samples=2)


def test_every_cell_asks_about_the_same_schemas() -> None:
    """So that representations can be compared in pairs."""
    made = made_records(_SMALL, 24)
    by_cell: dict[str, list[str]] = {}
    for record in made:
        cell, _, name = record.id.partition(":")
        assert fields_of(record).cell == cell
        by_cell.setdefault(cell, []).append(f"{record.group}/{name}")
    assert len(by_cell) == 8
    assert by_cell["generation-python-json"] == by_cell["generation-nl-xml"]
    assert by_cell["validation-python-json"] == by_cell["validation-nl-xml"]
    assert len(by_cell["generation-nl-json"]) == 24
    assert len({record.key for record in made}) == len(made)


@pytest.mark.parametrize(
    "settings",
    [ConcodeSettings(representations="json,toml"), ConcodeSettings(outputs="toml")],
)
def test_what_does_not_exist_is_refused_with_what_does(
    settings: ConcodeSettings,
) -> None:
    """One line, and the names that there are."""
    with pytest.raises(BadConfiguration, match=r"no 'toml'.*choose from"):
        made_records(settings)


@pytest.mark.parametrize(
    "values",
    [{"samples": 0}, {"yes_share": 2}, {"count": -1}, {"xml": "json"}, {"tasks": "x"}],
)
def test_a_setting_that_makes_no_sense_is_refused(values: dict[str, Json]) -> None:
    """Before anything is drawn or asked."""
    with pytest.raises(BadConfiguration):
        choose_suite("concodeeval", values)


def test_real_schemas_are_asked_in_every_representation_that_can_say_them(
    tmp_path: Path,
) -> None:
    """Python and English say no `pattern`: those records are left out."""
    (tmp_path / "crate.json").write_text(
        json.dumps(
            {
                "type": "object",
                "properties": {"code": {"type": "string", "pattern": "^[a-z]+$"}},
                "required": ["code"],
            }
        )
    )
    request = RecordRequest(
        data=str(tmp_path), fetch=FetchSettings(cache=tmp_path / "cache")
    )
    found = records(request, ConcodeSettings(outputs="json", samples=3)).records
    cells = {record.id.partition(":")[0] for record in found}
    assert cells == {
        f"{task}-{representation}-json"
        for task in ("generation", "validation")
        for representation in ("json", "yaml", "xml")
    }
    labels = [fields_of(record).label for record in found]
    assert {"yes", "no"} <= set(labels)


def test_chat_asks_for_a_fence_and_a_base_form_opens_it() -> None:
    """The two forms of one question."""
    record = made_records(_SMALL)[0]
    (chat,) = prompt(record, ConcodeSettings()).messages
    assert "Wrap the sample in ```." in chat.content
    (base,) = prompt(record, ConcodeSettings(form="base")).messages
    assert base.content.startswith("Write a JSON sample with field values as per the ")
    assert base.content.endswith("JSON sample:\n```\n")


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        (ConcodeSettings(form="base", template="inst"), ("[INST] Write", "[/INST]")),
        (
            ConcodeSettings(form="base", template="question", system="granite"),
            ("You are an intelligent AI", "Question:\nWrite", "Answer:\n```\n"),
        ),
        (
            ConcodeSettings(form="base", template="question_fence"),
            ("Please wrap your code answer using ```",),
        ),
        (
            ConcodeSettings(few_shot=True),
            ("Your task is to write a JSON sample", "[\n    5.82,\n    11.64\n]\n```"),
        ),
        (ConcodeSettings(system="expert"), ("expert in understanding Python",)),
    ],
)
def test_the_papers_prompts_can_be_had(
    settings: ConcodeSettings, parts: tuple[str, ...]
) -> None:
    """System prompts, question forms, instruction tags and examples."""
    record = made_records(_SMALL)[0]
    text = "\n".join(turn.content for turn in prompt(record, settings).messages)
    for part in parts:
        assert part in text


def test_task_2_shows_schema_and_sample_and_a_description_without_its_request() -> None:
    """English descriptions end before they ask for anything."""
    record = next(one for one in made_records(_SMALL) if "validation-nl-xml" in one.id)
    (turn,) = prompt(record, ConcodeSettings()).messages
    assert turn.content.startswith("Does the XML sample\n<?xml")
    assert (
        "defined in natural language format schema\nThe schema defines" in turn.content
    )
    assert turn.content.endswith("Respond to yes or no.")
    assert "sample as per the schema description" not in turn.content


def test_the_published_settings_differ_where_the_paper_does() -> None:
    """Draft 7, an open fence, xmltodict, 20/60/20, and what is unclear dropped."""
    settings = as_published(ConcodeSettings())
    assert settings.reading.dialect == "draft-07"
    assert (settings.form, settings.xml) == ("base", "paper")
    assert (settings.locality, settings.unanswered) == ("20/60/20", "drop")

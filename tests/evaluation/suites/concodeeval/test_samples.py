"""The samples of task 2: their labels are what two validators say."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from curation.instances.constraints.interpretations import read_schema
from curation.validation.metaschemas import RUST_VALIDATORS
from evaluation.core.records import Instance, Record
from evaluation.suites.concodeeval.records import (
    LabelledSample,
    LabelledSamples,
    labelled,
)
from evaluation.suites.concodeeval.schemas import generate_schemas
from tests.evaluation.suites.concodeeval.drawn import made_schemas


def _check_labels(sample: Record, shown: tuple[LabelledSample, ...]) -> None:
    """Assert that both validators say of every sample what its label says."""
    schema = json.loads(sample.constraint)
    for one in shown:
        value = json.loads(one.text)
        said = one.label == "yes"
        assert Draft202012Validator(schema).is_valid(value) is said
        assert RUST_VALIDATORS["2020-12"](schema).is_valid(value) is said
        assert bool(one.keyword) is not said


def test_both_validators_agree_with_every_label_and_the_share_is_kept() -> None:
    """55 % of all samples are valid, each schema's are distinct."""
    chosen = LabelledSamples(5, 0.55, 0)
    labels: list[str] = []
    for made in made_schemas():
        shown = chosen.of(made)
        _check_labels(made, shown)
        assert len({one.text for one in shown}) == len(shown)
        labels += [one.label for one in shown]
    assert abs(labels.count("yes") / len(labels) - 0.55) < 0.02


@pytest.mark.slow
def test_both_validators_agree_with_every_label_of_the_whole_suite() -> None:
    """600 schemas, and near to 55 % of yes."""
    chosen = LabelledSamples(5, 0.55, 0)
    labels: list[str] = []
    for made in generate_schemas():
        shown = chosen.of(made)
        _check_labels(made, shown)
        labels += [one.label for one in shown]
    assert len(labels) > 2_400
    assert abs(labels.count("yes") / len(labels) - 0.55) < 0.01


def test_another_share_is_kept_too() -> None:
    """None, or all, valid."""
    for share, label in ((0.0, "no"), (1.0, "yes")):
        chosen = LabelledSamples(2, share, 0)
        shown = [one.label for made in made_schemas()[:4] for one in chosen.of(made)]
        assert set(shown) == {label}


def test_an_instance_whose_verdict_hangs_on_formats_is_not_shown() -> None:
    """Nobody could tell which label is right."""
    compiled = read_schema('{"type": "string", "format": "date"}', "2020-12")
    instance = Instance(text='"soon"', valid=False, kind="near_miss", keyword="format")
    assert not hasattr(compiled, "reason")
    assert labelled(compiled, instance) is None

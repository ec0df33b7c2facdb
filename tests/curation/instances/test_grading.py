"""Instances that the source of a schema says are right."""

from __future__ import annotations

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.dataset.make_instances import make_instances
from curation.instances.grading import grade, judge_examples


def test_each_refusal_has_its_keyword() -> None:
    """Equal values count once, and what is no JSON cannot be judged."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": 3}}}
    compiled = CompiledSchema.from_json(schema, "2020-12")
    texts = ['{"a": 1}', '{"a": 1.0}', '{"a": 4}', '{"a": "x"}', "[]", "{"]
    accepted, refused = judge_examples(compiled, texts)
    assert [witness.value for witness in accepted] == [{"a": 1}]
    assert refused == {"cannot be judged": 1, "maximum": 1, "type": 2}


def test_what_is_given_is_a_witness_of_its_own_kind() -> None:
    """Once, also where a search finds it."""
    made = make_instances('{"const": 5}', "2020-12", examples=("5", "6"))
    assert [(row.kind, row.value) for row in made.witnesses] == [("given", 5)]
    assert made.examples_refused == {"const": 1}
    assert make_instances('{"const": 5}', "2020-12").examples_refused is None


def test_an_instance_that_is_no_json_costs_no_other_its_grade() -> None:
    """A number beyond doubles, and NaN."""
    graded = grade('{"type": "array"}', "draft-07", ["[1]", "[1e400]", "[NaN]"])
    good, *odd = graded.grades
    assert (good.jsonschema_rs, good.error) == (True, "")
    assert all(one.error for one in odd)

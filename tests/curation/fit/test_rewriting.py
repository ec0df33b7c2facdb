"""Rewrites of schemas for targets: what they claim, and answers mapped back."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import count
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.edition.encoding import Encoder
from curation.fit import residual, rewriting, verdict
from curation.fit.answers import compare_schemas, decode, fit_schema
from curation.fit.decoding import UndecodableError, _listed
from curation.fit.edits import Claim, Sites
from curation.fit.equal_edits import tidied
from curation.fit.narrowing import without_patterns
from curation.fit.positions import positions
from curation.fit.profile import load_profile
from curation.fit.reshaping import dropped
from curation.fit.residual import residual_schema, sentences, whole
from curation.fit.rewrites import EXACT, SAFE, UNSAFE
from curation.fit.rewriting import SAFE_CLAIMS, without_marks
from curation.fit.scan import scan_schema
from curation.fit.shapes import SHAPE, Shaped, derive_shape, with_shape
from curation.fit.verdict import Verdict, is_sendable, judge_fit
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.near_misses.search import find_near_misses
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.json.pointer import to_fragment
from curation.json.values import identity
from curation.relation.comparer import Comparer, to_text
from curation.relation.questions import AlgebraAnswer
from curation.schema.dialects import DRAFT_07, DRAFT_2020_12
from curation.system.errors import BadData
from tests.curation.schema_strategies import schemas
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json, UntypedJson
    from curation.fit.rewriting import Fit
    from curation.json.pointer import Tokens
    from curation.relation.questions import Question
    from curation.workers.limits import ProcessResult


OPENAI, ANTHROPIC = "openai-strict", "anthropic"


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_STRING: Json = {"type": "string"}
#: By the rewrite that is made: target, the schema, and how the meaning changes.
EXAMPLES: dict[str, tuple[str, dict[str, Json], str]] = dict(
    table(__file__, "rewrites")
)


def test_what_is_dropped_is_told_in_the_order_of_the_schema() -> None:
    """A set of keywords has another order in each process."""
    names = ("minItems", "maximum", "pattern", "maxItems", "minimum", "maxLength")
    schema: dict[str, Json] = dict.fromkeys(names, 1)
    told = derive_shape(dropped(schema, frozenset(schema))).dropped
    assert list(told) == list(schema)


@pytest.mark.parametrize("row", table(__file__, "edits"))
def test_an_edit_changes_what_it_is_about(row: list[UntypedJson]) -> None:
    """And nothing where that would be wrong; it is asked for at the root, or `at`."""
    name, schema, expected, *asked = row
    where: UntypedJson = {"at": [()], "keywords": [], "limit": 0, **dict(*asked)}
    keywords = frozenset(where["keywords"])
    sites = {tuple(tokens): keywords for tokens in where["at"]}
    rewrite = next(it for it in (*EXACT, *SAFE, *UNSAFE) if it.name == name)
    after = rewrite.apply(schema, Sites(keywords=sites, limit=where["limit"]))
    assert json.dumps(after) == json.dumps(schema if expected is None else expected)
    assert rewrite.shapes or SHAPE not in str(after)


@pytest.mark.parametrize(("marked", "sent"), table(__file__, "sent"))
def test_a_shape_is_what_is_sent(marked: dict[str, Json], sent: Json) -> None:
    """Another type, another place for definitions, a description."""
    assert Shaped(marked, DRAFT_2020_12).schema == sent


def test_a_fit_is_shown_in_a_line(comparer: Comparer) -> None:
    """With the names of its rewrites."""
    shown = [
        repr(fit_schema(schema, OPENAI, comparer=comparer))
        for schema in (_object(a=_STRING), {**_object(a=_STRING), "minProperties": 1})
    ]
    assert shown == [
        f"<Fit for {OPENAI}: accepted; no rewrite: equal>",
        f"<Fit for {OPENAI}: accepted; implied-keyword-dropped: equal>",
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_rewrite_makes_a_schema_fit(name: str, comparer: Comparer) -> None:
    """The target takes what is sent, and the claim of the named step is the weakest."""
    target, schema, claim = EXAMPLES[name]
    profile = load_profile(target)
    assert not is_sendable(judge_fit(schema, profile))
    fit = fit_schema(schema, target, comparer=comparer)
    assert is_sendable(judge_fit(fit.schema, profile)), fit.failing
    assert name in [step.rewrite for step in fit.steps]
    assert fit.claim is Claim(claim), fit.steps
    _assert_true(fit)


@pytest.mark.parametrize(
    ("rewrite", "schema", "claim", "example"), table(__file__, "open_objects")
)
def test_no_object_is_closed_where_the_target_refuses_it(
    rewrite: str,
    schema: dict[str, Json],
    claim: str,
    example: tuple[Json, Json],
    comparer: Comparer,
) -> None:
    """Further members of an answer are dropped; they may hide another branch."""
    fit = fit_schema(schema, "gemini-functions", comparer=comparer, tool=True)
    assert fit.verdict is Verdict.ACCEPTED, fit.failing
    assert [step.rewrite for step in fit.steps] == [rewrite]
    assert fit.claim is Claim(claim)
    answer, value = example
    assert CompiledSchema(fit.schema, DRAFT_2020_12).is_valid(answer)
    assert fit.codec.decode(answer) == value
    _assert_true(fit, may_be_mute=claim == "narrower")


_MUTE: Json = []


def _answer(fit: Fit, value: Json) -> Json:
    try:
        answer: Json = Encoder(fit.shaped).encode(value)
    except UndecodableError:
        return _MUTE
    return answer


def _assert_true(fit: Fit, *, may_be_mute: bool = False) -> None:
    """Check a fit against values: fresh ones, witnesses and near misses.

    Where several branches of an `anyOf` have one answer, that of a later one may be
    mute: no answer stands for it.
    """
    compiled = fit.original
    sent = CompiledSchema(fit.schema, fit.shaped.dialect)
    meant = CompiledSchema(fit.meaning, fit.shaped.dialect)
    witnesses = find_witnesses(compiled).witnesses
    for witness in witnesses:
        if fit.claim in (Claim.EQUAL, Claim.WIDER):
            assert meant.is_valid(witness.value), (witness.value, fit.steps)
        if meant.is_valid(witness.value):
            answer = _answer(fit, witness.value)
            assert may_be_mute or answer is not _MUTE, (witness.value, fit.steps)
            if answer is _MUTE:
                continue
            assert sent.is_valid(answer)
            assert identity(fit.codec.decode(answer)) == identity(witness.value)
    if fit.claim not in SAFE_CLAIMS:
        return
    for near_miss in find_near_misses(compiled, witnesses):
        assert not meant.is_valid(near_miss.value), (near_miss.value, fit.steps)
    for fresh in find_witnesses(sent, budget=Budget(count=12)).witnesses:
        value = fit.codec.decode(fresh.value)
        assert compiled.is_valid(value), (fresh.value, fit.schema, fit.steps)


@pytest.mark.slow
@given(
    # Not draft-04, which takes 1.0 for no integer: claims compare numbers by value.
    schema=st.sampled_from(("draft-06", "draft-07", "2019-09", "2020-12")).flatmap(
        lambda dialect: schemas(dialect, leaves=8)
    )
)
@pytest.mark.parametrize("target", [OPENAI, ANTHROPIC])
def test_claims_hold_for_any_schema(
    comparer: Comparer, target: str, schema: dict[str, Json]
) -> None:
    """Witnesses stay where it is equal; nothing false is let through where it is safe.

    Answers encoded and decoded again are what they were.
    """
    fit = fit_schema(schema, target, comparer=comparer)
    assert fit.claim in SAFE_CLAIMS or fit.ignored
    _assert_true(fit, may_be_mute=True)


@pytest.mark.slow
@given(schema=schemas(leaves=8, satisfiable=False))
def test_a_tidied_schema_accepts_the_same_values(schema: dict[str, Json]) -> None:
    """Also of one that is no canonical form: parts of a `not` are left as they were."""
    before = CompiledSchema(schema, DRAFT_2020_12)
    after = CompiledSchema(tidied(schema), DRAFT_2020_12)
    for compiled in (before, after):
        witnesses = find_witnesses(compiled).witnesses
        values = [each.value for each in witnesses]
        values += [each.value for each in find_near_misses(compiled, witnesses)]
        for value in values:
            assert before.is_valid(value) == after.is_valid(value), value


@pytest.mark.parametrize(("schema", "expected"), table(__file__, "tidied"))
def test_examples_of_tidied_schemas_accept_the_same_values(
    schema: dict[str, Json], expected: dict[str, Json]
) -> None:
    """Names in an enumeration become properties; where that would not hold, nothing."""
    assert tidied(schema) == expected
    schema = {"anyOf": [schema, {"const": 7}]}
    before = CompiledSchema(schema, DRAFT_2020_12)
    after = CompiledSchema(tidied(schema), DRAFT_2020_12)
    values: list[Json] = [[], [1], {}, {"a": 1}, {"a": None}, {"b": 1}, {"a": ""}, 7]
    verdicts = [before.is_valid(value) for value in values]
    assert [after.is_valid(value) for value in values] == verdicts
    assert len({*verdicts}) > 1


def test_what_a_pattern_would_allow_stays_refused(comparer: Comparer) -> None:
    """A closed object keeps a property that is `false` where a pattern matches it."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {"a": False},
        "patternProperties": {"^[a-z]$": {"type": "null"}},
    }
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert not CompiledSchema(fit.meaning, DRAFT_2020_12).is_valid({"a": None})
    assert fit.claim in SAFE_CLAIMS
    _assert_true(fit)


def test_a_schema_that_leads_to_itself_without_end_changes_no_value(
    comparer: Comparer,
) -> None:
    """It is a branch of itself: answers are decoded by what stands beside it."""
    itself: Json = {"anyOf": [_object(a=_STRING), {"$ref": "#/$defs/x"}]}
    schema: dict[str, Json] = {"$ref": "#/$defs/x", "$defs": {"x": itself}}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    values: list[Json] = [{"a": "b"}, [1]]
    for value in values:
        assert fit.codec.decode(_answer(fit, value)) == value


def test_what_stands_beside_a_reference_is_merged(comparer: Comparer) -> None:
    """The target is written where it is used, with what its sibling asks."""
    parts: Json = {"$ref": "#/$defs/name", "minLength": 2}
    schema = _object(a=parts) | {"$defs": {"name": _STRING}}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert (fit.fits, fit.claim) == (True, Claim.EQUAL)
    assert fit.schema["properties"]["a"] == {"type": "string", "minLength": 2}
    _assert_true(fit)


def test_properties_keep_their_order(comparer: Comparer) -> None:
    """A model reasons before it answers only where the schema has that order."""
    reasoned = _object(reasoning=_STRING, answer=_STRING)
    verdict: dict[str, Json] = {"properties": {"sure": _STRING, "date": _STRING}}
    checks: Json = {"allOf": [verdict, {"type": ["object", "null"]}]}
    schema = _object(result={"$ref": "#/$defs/r"}, checks=checks)
    fit = fit_schema(schema | {"$defs": {"r": reasoned}}, OPENAI, comparer=comparer)
    assert fit.fits
    assert "normalised" in [step.rewrite for step in fit.steps]
    sent = fit.schema
    assert [*sent["properties"]] == ["result", "checks"]
    assert [*sent["$defs"]["r"]["properties"]] == ["reasoning", "answer"]
    text = json.dumps(sent)
    assert text.index('"sure"') < text.index('"date"')


def test_a_reshaped_root_keeps_its_definitions(comparer: Comparer) -> None:
    """What references lead to stands in the schema that is sent."""
    inner: Json = {"anyOf": [{"$ref": "#/$defs/name"}, {"type": "null"}]}
    schema: dict[str, Json] = {
        "type": "array",
        "prefixItems": [{"$ref": "#/$defs/name"}],
        "items": False,
        "$defs": {"name": _object(a=_STRING, b=inner)},
    }
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert "members" in [step.rewrite for step in fit.steps]
    assert (fit.fits, fit.claim in SAFE_CLAIMS) == (True, True), fit.failing
    _assert_true(fit)


@pytest.mark.parametrize("target", [OPENAI, ANTHROPIC, "gemini"])
def test_definitions_outside_of_all_keywords_are_rewritten_too(
    comparer: Comparer, target: str
) -> None:
    """`#/item`, and what it refers to, is closed and decoded as a definition is."""
    item: Json = {"anyOf": [{"type": "null"}, {"$ref": "#/properties/m/point"}]}
    parts: dict[str, Json] = {
        "m": {
            "type": "object",
            "additionalProperties": {"$ref": "#/item"},
            "point": {"type": "object", "properties": {"x": {"type": "integer"}}},
        },
        "n": {"$ref": "#/item"},
    }
    schema: dict[str, Json] = {"type": "object", "properties": parts, "item": item}
    fit = fit_schema(schema, target, comparer=comparer, dialect="draft-07")
    assert fit.fits, fit.failing
    assert ("gathered" in [step.rewrite for step in fit.steps]) == (target != "gemini")
    _assert_true(fit)
    value: Json = {"m": {"a": {"x": 1}, "b": None}, "n": {"x": 2}}
    assert fit.codec.decode(_answer(fit, value)) == value


def test_a_wrapped_root_keeps_its_identifier(comparer: Comparer) -> None:
    """Inside the object around it, its references would lead nowhere."""
    schema: dict[str, Json] = {
        "$id": "https://example.com/names.json",
        "type": "array",
        "items": {"$ref": "#/$defs/name"},
        "$defs": {"name": _object(a=_STRING)},
    }
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert "wrapped" in [step.rewrite for step in fit.steps]
    assert fit.schema["$id"] == schema["$id"]
    _assert_true(fit)


def test_each_rewrite_has_a_name_of_its_own() -> None:
    """A step names what made it."""
    names = [it.name for it in (*EXACT, *SAFE)]
    assert len(set(names)) == len(names)
    assert {it.name for it in UNSAFE} >= {"dropped"}
    assert all(it.sentence.endswith(".") for it in (*EXACT, *SAFE, *UNSAFE))
    assert EXAMPLES.keys() <= {*names}


def test_an_object_is_not_called_narrower_where_less_is_more(
    comparer: Comparer,
) -> None:
    """Closed beneath `not`, an object would let through what was refused."""
    inner: Json = {"type": "object", "properties": {"a": _STRING}, "required": ["a"]}
    schema: dict[str, Json] = {"type": ["object", "array"], "not": inner}
    places = positions(schema, DRAFT_2020_12)
    assert places[()].monotone
    assert not places[("not",)].monotone
    fit = fit_schema(schema, ANTHROPIC, comparer=comparer)
    assert fit.claim in SAFE_CLAIMS
    _assert_true(fit)


def test_a_schema_that_is_referred_to_is_where_the_reference_is() -> None:
    """Beneath `not`, in a branch, or only in a definition that nothing reaches."""
    schema: Json = {
        "$defs": {"a": {"items": True}, "b": {"$ref": "#/$defs/c"}, "c": {}, "d": {}},
        "not": {"$ref": "#/$defs/a"},
        "anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}],
    }
    places = positions(schema, DRAFT_2020_12)
    monotone = [it for it in "abcd" if places["$defs", it].monotone]
    assert monotone == ["b", "c", "d"]
    assert not places["$defs", "a", "items"].monotone


def test_one_of_with_branches_that_overlap_is_no_any_of(comparer: Comparer) -> None:
    """A value of both branches shows it, and a safe fit does not take it."""
    schema = _object(
        a={"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string"}]}
    )
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert "one-of-as-any-of" not in [step.rewrite for step in fit.steps]
    _assert_true(fit)


def test_a_schema_is_judged_once_for_each_step(
    comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a target finds is kept until a step changes the schema."""
    judged: list[Json] = []

    def counting(schema: Json) -> object:
        judged.append(schema)
        return scan_schema(schema)

    monkeypatch.setattr(verdict, "scan_schema", counting)
    schema = {"properties": {"a": {"oneOf": [_STRING, {"type": "null"}]}}}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert len(fit.steps) > 1
    # A closed object, the schema as it is, which is 2020-12, and after each step.
    assert len(judged) == 2 + len(fit.steps)


def test_what_no_safe_rewrite_mends_is_dropped_and_said(comparer: Comparer) -> None:
    """The description has it, and the rest refuses what the target lets through."""
    schema = _object(
        a={"type": "array", "items": _STRING, "minItems": 2, "uniqueItems": True}
    )
    safe = fit_schema(schema, OPENAI, comparer=comparer)
    assert [finding.keyword for finding in safe.failing] == ["uniqueItems"]
    fit = fit_schema(schema, OPENAI, allow="any", comparer=comparer)
    assert (fit.fits, fit.claim) == (True, Claim.WIDER)
    assert "uniqueItems: true" in str(fit.schema)
    assert list(sentences(fit)) == ["/properties/a: `uniqueItems` must be true"]
    rest = CompiledSchema(residual_schema(fit), DRAFT_2020_12)
    repeated: Json = {"a": ["b", "b"]}
    assert CompiledSchema(fit.schema, DRAFT_2020_12).is_valid(repeated)
    assert not rest.is_valid(repeated)
    with pytest.raises(BadData, match="uniqueItems"):
        decode(repeated, fit)
    both: Json = {"allOf": [fit.meaning, residual_schema(fit)]}
    proofs = comparer.proofs(
        to_text(both, DRAFT_2020_12), to_text(whole(fit), DRAFT_2020_12)
    )
    assert proofs.first_in_second


def test_what_is_ignored_is_the_rest(comparer: Comparer) -> None:
    """A target that ignores a keyword takes the schema; answers are validated."""
    schema = _object(a={"type": "string", "pattern": "^a"})
    fit = fit_schema(schema, "gemini", comparer=comparer)
    assert (fit.fits, fit.schema, fit.claim) == (True, schema, Claim.WIDER)
    assert not CompiledSchema(residual_schema(fit), DRAFT_2020_12).is_valid({"a": "b"})
    assert (
        residual_schema(fit_schema(_object(a=_STRING), OPENAI, comparer=comparer))
        is True
    )
    # Without `strict`, Anthropic takes any tool.
    loose = fit_schema({"type": "object"}, ANTHROPIC, comparer=comparer, tool=True)
    assert not loose.steps


@pytest.mark.parametrize(
    "answer",
    [5, {}, {"value": 5}, {"value": [{"key": "a"}]}, {"value": [], "more": 1}],
)
def test_an_answer_of_another_shape_is_refused(
    comparer: Comparer, answer: Json
) -> None:
    """What was not asked for is one clear line and no value."""
    schema = {"anyOf": [{"type": "object", "additionalProperties": _STRING}]}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert decode({"value": [{"key": "a", "value": "b"}]}, fit) == {"a": "b"}
    with pytest.raises(BadData, match="the answer"):
        decode(answer, fit)


@pytest.mark.parametrize("target", ["openai-strict", "anthropic"])
def test_what_stands_only_in_the_schema_that_is_sent_is_no_place_to_edit(
    comparer: Comparer, target: str
) -> None:
    """Members of a tuple beyond those told have a schema there, and none of ours."""
    parts: Json = {"type": "array", "items": [_STRING], "minItems": 3, "maxItems": 6}
    draft = "http://json-schema.org/draft-07/schema#"
    schema = {"$schema": draft, **_object(a=parts, z={})}
    fit = fit_schema(schema, target, comparer=comparer, allow="any")
    assert "members" in [step.rewrite for step in fit.steps]
    # What comes after it is edited.
    last = fit.steps[-1]
    assert (last.rewrite, last.pointers) == ("scalars", ("/properties/z",))


def test_what_a_rule_tells_is_not_proven_where_no_proof_is_asked_for(
    comparer: Comparer,
) -> None:
    """The schema is the same, and so is whether it is safe; only evidence is lost."""
    parts = _object(a={"oneOf": [_STRING, {"type": "null"}]}, b={"const": 1})
    schema = {**parts, "additionalProperties": True}
    told, proven = (
        fit_schema(schema, OPENAI, comparer=comparer, prove=prove)
        for prove in (False, True)
    )
    assert told.fits
    assert told.schema == proven.schema
    assert {told.claim, proven.claim} <= SAFE_CLAIMS
    assert "by its rule" in [step.evidence for step in told.steps]
    assert "by its rule" not in [step.evidence for step in proven.steps]


def test_an_answer_that_is_nested_too_deeply_is_refused(comparer: Comparer) -> None:
    """A recursive schema allows any depth; Python's stack does not."""
    inner: Json = {"$ref": "#"}
    schema = _object(a=inner) | {"required": []}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    answer: Json = None
    for _ in range(5000):
        answer = {"a": answer}
    with pytest.raises(BadData, match="nested too deeply"):
        decode(answer, fit)


class _Counting(Comparer):
    """Each question costs what it is given, and nothing else."""

    def __init__(self, cost: float) -> None:
        super().__init__()
        self.cost, self.asked = cost, 0

    def _result(self, question: Question, seconds: float) -> ProcessResult:
        before, result = self.spent, super()._result(question, seconds)
        self.asked, self.spent = self.asked + 1, before + self.cost
        return result


class _Unproven(Comparer):
    """It has no algebra, and values alone."""

    def proofs(self, *_: object) -> AlgebraAnswer:
        return AlgebraAnswer()


def test_what_nothing_proves_is_shown_by_a_value_or_unknown() -> None:
    """The value is invalid by the schema before; one that is implied has none."""
    array: dict[str, Json] = {"type": "array", "items": _STRING, "minItems": 1}
    real = _object(a={**array, "contains": {"type": "string", "maxLength": 1}})
    implied = _object(a={**array, "contains": _STRING})
    found = []
    for schema, prove in ((real, True), (implied, True), (real, False)):
        with _Unproven() as comparer:
            fit = fit_schema(
                schema, OPENAI, comparer=comparer, allow="any", prove=prove
            )
        (step,) = [step for step in fit.steps if step.rewrite == "dropped"]
        found.append((step.claim, re.sub(r"\d+", "some", step.evidence)))
        if step.value is not None:
            assert not fit.original.is_valid(json.loads(step.value))
    assert found == [
        (Claim.WIDER, "shown by a value"),
        (Claim.UNKNOWN, "unknown, some values tried"),
        (Claim.UNKNOWN, "unknown, no values tried"),
    ]


@pytest.mark.parametrize(("own", "child"), [(0.0, 0.1), (0.1, 0.0), (0.0, 9.0)])
def test_a_rewrite_ends_at_its_deadline(
    own: float, child: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In processor time, that of the child included; what it has so far is said."""
    looks = count()
    clock = SimpleNamespace(thread_time=lambda: own * next(looks))
    monkeypatch.setattr(rewriting, "time", clock)
    schema = _object(
        a={"not": _STRING},
        b={"oneOf": [{"minLength": 3}, {"pattern": "^a"}]},
        c={"type": "array", "uniqueItems": True, "items": {}},
    )
    asked = {}
    for seconds in (0.3, 1e9):
        with _Counting(child) as comparer:
            comparer.spent = 50.0
            fit = fit_schema(
                schema, OPENAI, comparer=comparer, allow="any", seconds=seconds
            )
        assert (fit.fits, fit.is_late) == (seconds > 1, seconds < 1)
        asked[seconds] = comparer.asked
    # Each of both searches has a deadline.
    assert 0 < asked[0.3] <= 8 < asked[1e9]


@pytest.mark.parametrize("schema", ["5", '{"$ref": "https://example.com/a"}', "{"])
def test_a_schema_that_cannot_be_used_is_refused(schema: str) -> None:
    """One line says why, before anything is rewritten."""
    with pytest.raises(BadData):
        fit_schema(schema, OPENAI)


def test_any_mapping_is_a_schema() -> None:
    """Those inside it too."""
    inner = MappingProxyType({"a": MappingProxyType({"type": "string"})})
    schema = MappingProxyType({"type": "object", "properties": inner})
    fit = fit_schema(schema, OPENAI)
    assert fit.schema["properties"] == {"a": {"type": ["string", "null"]}}


@pytest.mark.parametrize("name", ["response_format", "function"])
def test_a_request_is_refused(name: str) -> None:
    """A request around a schema is none, and restricts nothing: its schema is named."""
    request = {"type": "function", name: {"parameters": {"type": "object"}}}
    for use in (partial(fit_schema, target=OPENAI), partial(compare_schemas, "{}")):
        for schema in (request, json.dumps(request)):
            with pytest.raises(BadData, match=f"is at /{name}/parameters may be"):
                use(schema)


@pytest.mark.parametrize("name", ["Partial<User>", "a/b", "a~b"])
def test_a_root_that_refers_to_an_odd_name_is_inlined(
    name: str, comparer: Comparer
) -> None:
    """The pointer is read as RFC 6901 and the fragment of a URI say."""
    schema = {"$ref": to_fragment(("$defs", name)), "$defs": {name: _object(a=_STRING)}}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert not fit.failing
    assert _answer(fit, {"a": "x"}) == {"a": "x"}


def test_an_inner_identifier_keeps_what_references_mean(comparer: Comparer) -> None:
    """`#/$defs/n` of an embedded resource is its own."""
    inner: Json = {
        "$id": "http://x.example/inner",
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/n"}},
        "required": ["n"],
        "additionalProperties": False,
        "$defs": {"n": {"type": "integer"}},
    }
    schema = _object(a=inner) | {"$defs": {"n": {"type": "string"}}}
    _assert_true(fit_schema(schema, OPENAI, comparer=comparer))


def test_a_keyword_of_older_drafts_is_not_dropped_in_silence(
    comparer: Comparer,
) -> None:
    """Validators still assert `dependencies` under 2020-12."""
    schema = {
        "$schema": DRAFT_2020_12.uri,
        **_object(a=_STRING, b=_STRING),
        "required": [],
        "dependencies": {"a": ["b"]},
    }
    _assert_true(fit_schema(schema, "gemini", comparer=comparer), may_be_mute=True)


_DISTINCT: dict[str, Json] = {"type": "array", "items": _STRING, "uniqueItems": True}


@pytest.mark.parametrize(
    "beside",
    [
        {"allOf": [{"properties": {"x": {"minItems": 2}}}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"enum": [{"x": ["a"]}]}]}}},
        {"not": {"additionalProperties": {"maxItems": 1}}},
        {"const": {"x": ["a"]}},
    ],
)
def test_a_value_of_which_another_schema_speaks_keeps_its_shape(
    beside: dict[str, Json], comparer: Comparer
) -> None:
    """That schema would look at the answer: `["a", "a"]` has two elements."""
    schema: dict[str, Json] = {**_object(x=_DISTINCT, y=_DISTINCT), **beside}
    places = positions(schema, DRAFT_2020_12)
    spoken_of = {it for it in "xy" if not places["properties", it].plain}
    assert spoken_of == ({"x"} if "allOf" in beside else {"x", "y"})
    assert places[()].plain == ("const" in beside)
    fit = fit_schema(schema, "sglang", comparer=comparer)
    steps = [step for step in fit.steps if step.rewrite == "distinct"]
    assert not [step for step in steps if "/properties/x" in step.pointers]


def test_a_property_of_which_another_schema_speaks_is_not_asked_for_as_null(
    comparer: Comparer,
) -> None:
    """`const` would look at the answer, and refuse the null."""
    part: Json = {**_object(a=_STRING), "required": []}
    schema: dict[str, Json] = {**_object(p=part), "const": {"p": {}}}
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    assert (fit.verdict, fit.steps) == (Verdict.REJECTED, ())


def test_an_element_that_stands_at_its_place_is_not_left_out(
    comparer: Comparer,
) -> None:
    """`["a", "a", 1]` would become `["a", 1]`, of which the second is no text."""
    strings: list[Json] = [{"type": "string"}, {"type": "string"}]
    pair: dict[str, Json] = {
        **_DISTINCT,
        "prefixItems": strings,
        "items": {"type": "integer"},
    }
    fit = fit_schema(_object(a=pair), "sglang", comparer=comparer)
    assert "distinct" not in [step.rewrite for step in fit.steps]


def test_answers_that_differ_may_stand_for_equal_elements() -> None:
    """Pairs in another order: elements keep their shape unless repeated ones go."""
    marked = with_shape({"uniqueItems": True, "items": _DISTINCT}, distinct=True)
    cases: list[tuple[UntypedJson, bool]] = [
        (marked, True),
        (without_marks(marked), False),
        ({"allOf": [{"uniqueItems": True}], "items": _DISTINCT}, False),
    ]
    for schema, is_plain in cases:
        assert positions(schema, DRAFT_2020_12)["items",].plain is is_plain


def test_names_are_matched_as_validators_do() -> None:
    """By ECMA-262, and in a time that no pattern makes exponential."""
    long = "a" * 40 + "!"
    patterns: Json = {r"^\w$": {"type": "null"}, "^(a+)+$": {"type": "null"}}
    schema: dict[str, Json] = {
        "properties": {"x": {}, "\u00e9": {}, long: {}},
        "patternProperties": patterns,
    }
    both: Json = {"allOf": [{}, {"type": "null"}]}
    closed = without_patterns(schema, frozenset())
    assert closed["properties"] == {"x": both, "\u00e9": {}, long: {}}


@pytest.mark.parametrize(
    ("target", "schema", "wrong"),
    table(__file__, "rests"),
)
def test_the_rest_reaches_what_is_lost_in_a_definition(
    target: str, schema: dict[str, Json], wrong: Json, comparer: Comparer
) -> None:
    """What the sent schema and the rest accept is valid by what is meant."""
    fit = fit_schema(schema, target, allow="any", comparer=comparer)
    assert not CompiledSchema(residual_schema(fit), DRAFT_2020_12).is_valid(wrong)


@pytest.mark.parametrize(("schema", "expected"), table(__file__, "ignored"))
def test_the_rest_has_what_is_ignored_in_its_place_and_no_more(
    schema: dict[str, Json], expected: Json, comparer: Comparer
) -> None:
    """A branch or a tuple is whole; a branch where something is referred to, all."""
    fit = fit_schema(schema, "gemini", comparer=comparer)
    assert not fit.steps
    assert residual_schema(fit) == (schema if expected is None else expected)


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_07.uri, "items": [True, {"uniqueItems": True}]},
        {"prefixItems": [{"type": "array"}], "items": {"uniqueItems": True}},
    ],
)
def test_the_rest_of_a_tuple_leaves_no_element_out(
    schema: dict[str, Json], comparer: Comparer
) -> None:
    """Else what is said of one element would be said of none, or of another."""
    fit = fit_schema(schema, "gemini", comparer=comparer)
    rest = CompiledSchema(residual_schema(fit), fit.shaped.dialect)
    assert fit.ignored
    assert rest.is_valid([[1, 1], ["a"]])
    assert not rest.is_valid([["a"], [1, 1]])


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ([], "texts as keys"),
        (5, "texts as keys"),
        (None, "texts as keys"),
        ("\ud800", "the answer"),
    ],
)
def test_keys_that_are_no_texts_are_refused(
    key: Json, said: str, comparer: Comparer
) -> None:
    """Answers are anybody's: half of a surrogate pair, for instance, is no JSON."""
    schema = _object(m={"type": "object", "additionalProperties": _STRING})
    fit = fit_schema(schema, OPENAI, comparer=comparer)
    with pytest.raises(BadData, match=said):
        decode({"m": [{"key": key, "value": "a"}]}, fit)


@pytest.mark.parametrize("more", [None, 5, "ab", {}])
def test_further_items_that_are_no_array_are_refused(more: Json) -> None:
    """A text has elements too, and is none."""
    with pytest.raises(UndecodableError, match="an array expected"):
        _listed({"item1": 1, "more": more}, 1)


def test_what_is_lost_is_looked_for_once(
    comparer: Comparer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentences take a time that is linear in the keywords that are lost."""
    patterned: Json = {"type": "string", "pattern": "^a"}
    schema = _object(**{f"f{number}": patterned for number in range(9)})
    fit, calls = fit_schema(schema, "gemini", comparer=comparer), [0]
    found = residual.lost_keywords(fit)

    def counted(fit: Fit) -> Mapping[Tokens, frozenset[str]]:
        calls[0] += fit is not None
        return found

    monkeypatch.setattr(residual, "lost_keywords", counted)
    assert len([*sentences(fit)]) == 9
    assert calls == [1]

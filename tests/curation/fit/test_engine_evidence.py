"""What an edition measured of engines is said of schemas like a user's."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from curation.core import engine_trials
from curation.core.engine_trials import EngineTrial, KnownEngine, PassedValue
from curation.fit import engine_evidence
from curation.fit.engine_evidence import (
    Engines,
    FeatureSet,
    Head,
    LearntFeatures,
    find_evidence,
    read_judgement,
)
from curation.fit.profile import TargetKind
from curation.fit.verdict import Verdict, decide_verdict
from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import Json, UntypedJson

_FEATURES = [
    *("items", "minimum in items", "type array in root", "type integer in items"),
    *("pattern in root", *(f"x{number}" for number in range(4))),
    *("minLength in root", "maxLength in root", "minItems in root"),
]
_LIKES = [
    FeatureSet([0, 1, 2, 3], {0: {"passed": 40, "compile_error": 16}}),
    FeatureSet([0, 1, 2, 3, 4], {0: {"passed": 1}}),
    FeatureSet([*range(9)], {0: {"crash": 100}}),
]
_SURE, _DOUBTFUL, _REJECTED = [9], {10: (2, 20)}, {11: 12}
_LEARNT = [
    LearntFeatures(_SURE, _DOUBTFUL, _REJECTED, (98, 100, 200), (50, 50, 60)),
    LearntFeatures(_SURE, _DOUBTFUL, _REJECTED, (97, 100, 200), (49, 49, 60)),
]


@pytest.fixture(autouse=True)
def _edition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    lines = [
        Head("2026.11", ["e 1.0", "g 1.0", "xgrammar 0.2.8"], _FEATURES, _LEARNT),
        *_LIKES,
    ]
    (tmp_path / "2026.11").mkdir()
    file = tmp_path / "2026.11" / engine_evidence.ENGINES
    file.write_bytes(gzip.compress(b"\n".join(map(msgspec.json.encode, lines))))
    monkeypatch.setattr(engine_evidence, "results_folder", lambda: tmp_path)
    engine_evidence._table.cache_clear()
    yield
    engine_evidence._table.cache_clear()


_ITEM: UntypedJson = {"type": "integer", "minimum": 1}


@pytest.mark.parametrize(
    ("engine", "schema", "sentence"),
    [
        ("e 1.0", {"type": "array", "items": _ITEM}, "right on 41 of 57"),
        ("e 1.0", {"type": "array", "items": _ITEM}, "these places, rejected 16"),
        ("e 1.0", {"pattern": "a"}, "right on 1 of 101"),
        ("e 1.0", {"pattern": "a"}, "and many others, did not end 100"),
        ("e 1.0", {"maximum": 1}, "not measured on real schemas"),
        ("f 1.0", {"type": "array"}, "not measured on real schemas"),
    ],
)
def test_outcomes_are_of_schemas_like_it(
    engine: str, schema: UntypedJson, sentence: str
) -> None:
    """With all of its features and few others; else with many others."""
    assert sentence in find_evidence(schema, engine).measured[0]


@pytest.mark.parametrize(
    ("engine", "schema", "verdict", "sentence"),
    [
        ("e 1.0", {"minLength": 1}, Verdict.ACCEPTED, ""),
        (
            *("e 1.0", {"minLength": 1, "maxLength": 2}, Verdict.UNKNOWN),
            "2 of 20 real schemas with maxLength in root fail",
        ),
        (
            *("e 1.0", {"maxLength": 2, "minItems": 1}, Verdict.REJECTED),
            "12 real schemas with minItems in root were all rejected",
        ),
        (
            *("e 1.0", {"minLength": 1, "maxItems": 1}, Verdict.UNKNOWN),
            "too few real schemas have maxItems in root",
        ),
        # 97 of 100 are not enough to be believed, nor are 49 of 49.
        (
            "g 1.0",
            {"minLength": 1},
            Verdict.UNKNOWN,
            "97 of 100 verdicts were right, 98 % of",
        ),
        ("g 1.0", {"minItems": 1}, Verdict.UNKNOWN, "too few real schemas have minI"),
        ("f 1.0", {"minLength": 1}, Verdict.UNKNOWN, "no edition measured it"),
    ],
)
def test_features_of_real_schemas_decide(
    engine: str, schema: UntypedJson, verdict: Verdict, sentence: str
) -> None:
    """Sure ones accept, rejected ones reject, the most doubtful one is named."""
    findings = find_evidence(schema, engine).findings
    assert decide_verdict(findings) is verdict
    assert all(sentence in finding.sentence for finding in findings)


_PASSED = PassedValue("/minimum", "minimum", "0")


@pytest.mark.parametrize(
    ("trial", "verdict", "sentence"),
    [
        ({"valid": 2, "invalid": 3}, Verdict.ACCEPTED, "accepted; 5 values tried"),
        ({"refusal": "no $ref"}, Verdict.REJECTED, "e 1.0: rejected"),
        ({"late": "too slow"}, Verdict.UNKNOWN, "too slow"),
        ({"invalid": 3}, Verdict.UNKNOWN, "no valid value could be made"),
        (
            {"valid": 1, "invalid": 3, "passed": (_PASSED, _PASSED)},
            Verdict.IN_PART,
            "lets 2 of 3 invalid values through",
        ),
        (
            {"valid": 2, "invalid": 3, "blocked": ("1",)},
            Verdict.BLOCKS,
            "blocks 1 of 2 valid values",
        ),
        (
            {"valid": 2, "invalid": 3, "blocked": ("1",), "passed": (_PASSED,)},
            Verdict.BLOCKS,
            "blocks 1 of 2 valid values, lets 1 of 3 invalid values through",
        ),
    ],
)
def test_an_outcome_of_a_trial_is_a_verdict_with_counts(
    trial: dict[str, Any], verdict: Verdict, sentence: str
) -> None:
    """What the engine did decides; a passed value names the keyword that forbids it."""
    judged = read_judgement(EngineTrial(engine="e 1.0", **trial))
    assert decide_verdict(judged.findings) is verdict
    assert sentence in judged.measured[0]
    sentences = [finding.sentence for finding in judged.findings]
    assert ("rejected: no $ref" in sentences) is ("refusal" in trial)
    named = [it.pointer for it in judged.findings if it.keyword]
    assert named == (["/minimum"] if "passed" in trial else [])


class _Runner:
    """Engine `here` accepts all; `e` is not installed."""

    def __init__(self) -> None:
        self.closed = 0

    def engine(self, spec: str) -> KnownEngine | None:
        known = {
            "here": KnownEngine("here 2 faithful"),
            "e": KnownEngine(
                "e (no version)", "not installed", "csbdata engines add e"
            ),
        }
        return known.get(spec)

    def run(self, spec: str, schema: Json) -> EngineTrial:
        assert (spec, schema) == ("here", {})
        return EngineTrial(engine="here 2 faithful", valid=1, invalid=1)

    def close(self) -> None:
        self.closed += 1


def test_what_is_installed_is_run_and_the_rest_is_of_the_edition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command that installs an engine is named; its processes are ended."""
    runner = _Runner()
    monkeypatch.setattr(engine_trials, "_MAKERS", [lambda: runner])
    with Engines() as engines:
        here, edition, provider = engines.targets("here,e,gemini")
        assert (here.title, here.kind) == ("here 2 faithful", TargetKind.ENGINE)
        assert (edition.title, edition.date) == ("e 1.0", "2026.11")
        assert provider.kind is TargetKind.PROVIDER
        assert engines.judge({}, here).findings == ()
        measured = engines.judge({"pattern": "a"}, edition).measured
        assert measured[0].startswith("e 1.0: right on 1 of 101")
        assert measured[1] == "to try it here: csbdata engines add e"
        with pytest.raises(BadUsage, match="no such target"):
            engines.targets("nosuch")
    assert runner.closed == 1


def test_a_misspelt_engine_is_proposed() -> None:
    """Among the targets without rules; the edition knows their names."""
    with pytest.raises(
        BadUsage, match="xgramar: no such target: did you mean xgrammar"
    ):
        Engines().targets("xgramar")


def test_without_a_runner_the_edition_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the libraries of `evaluation` are not installed."""

    def fail() -> _Runner:
        raise ModuleNotFoundError

    monkeypatch.setattr(engine_trials, "_MAKERS", [fail])
    (target,) = Engines().targets("e")
    assert target.title == "e 1.0"

"""MaskBench's programs are run as they are, and what they say is compared with ours.

The checkout is a stand-in of ours with the same command line and the same files; it
walks with llguidance, and finds its vocabulary where the Hub's client finds it.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import pytest

from bench.engine.engines import drawn_files
from bench.engine.maskbench import add_options, compared, measure, outcome
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

_RUNNER = """
import argparse, json, os, time
from huggingface_hub import hf_hub_download
from llguidance import LLMatcher, LLTokenizer
from tokenizers import Tokenizer

def setup_argparse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llg", action="store_true", required=True)
    parser.add_argument("--multi", action="store_true")
    parser.add_argument("--tokenizer")
    parser.add_argument("--output")
    parser.add_argument("--num-threads", type=int)
    parser.add_argument("files")
    return parser

def walk(tokens, schema, texts, encode):
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema))
    matcher = LLMatcher(tokens, grammar, log_level=0)
    if matcher.is_error():
        return {"compile_error": matcher.get_error()}
    times, found = [], {}
    for number, test in enumerate(texts):
        copy = matcher.deep_copy()
        accepted = True
        for token in encode(json.dumps(test["data"], ensure_ascii=False)).ids:
            start = time.monotonic()
            mask = copy.compute_bitmask()
            accepted = bool(mask[token // 8] >> token % 8 & 1)
            accepted and copy.consume_token(token)
            times.append(int((time.monotonic() - start) * 1e6))
            if not accepted:
                break
        if accepted != test["valid"]:
            kind = "accept" if test["valid"] else "reject"
            found["validation_error"] = f"test #{number}: should {kind} but didn't"
    return {**found, "num_tokens": len(times), "all_mask_us": times}

def main():
    given = setup_argparse().parse_args()
    os.makedirs(given.output, exist_ok=True)
    path = hf_hub_download(repo_id=given.tokenizer, filename="tokenizer.json")
    tokens, encode = LLTokenizer(path), Tokenizer.from_file(path).encode
    listed = os.listdir(given.files) if os.path.isdir(given.files) else [""]
    for name in listed:
        file = os.path.join(given.files, name) if name else given.files
        with open(file) as opened:
            content = json.load(opened)
        result = walk(tokens, content["schema"], content["tests"], encode)
        whole = {"num_tokens": 0, "num_tests": len(content["tests"]), **result}
        with open(os.path.join(given.output, os.path.basename(file)), "w") as opened:
            json.dump(whole, opened)

if __name__ == "__main__":
    main()
"""
_SCRIPT = """
import json, os, subprocess, sys
from importlib.metadata import version
out = sys.argv[sys.argv.index("--output") + 1]
os.makedirs(out)
with open(os.path.join(out, "meta.txt"), "w") as meta:
    about = {"id": "llg", "name": "LLGuidance", "module": "llguidance"}
    json.dump({**about, "module_version": version("llguidance")}, meta)
words = ["python3", "-m", "maskbench.runner", "--multi", *sys.argv[1:]]
subprocess.run(words, check=True)
"""
_TABLE = """
import glob, json, sys
folder = sys.argv[1]
with open(folder + "/meta.txt") as opened:
    meta = json.load(opened)
if meta["id"] != "llg":
    raise ValueError(f"{meta['id']!r} is not in list")
found = [json.load(open(path)) for path in glob.glob(folder + "/*.json")]
print(f"| metric | {meta['name']} |\\n|:---|---:|")
print(f"| tokens | {sum(one['num_tokens'] for one in found):,} |")
"""
_INTEGER = {"type": "integer"}
_FILES: dict[str, tuple[UntypedJson, list[tuple[UntypedJson, bool]]]] = {
    "Own---passed.json": (_INTEGER, [(17, True), ("a", False)]),
    "Own---let-through.json": (_INTEGER, [(17, False)]),
    "Own---refused.json": (_INTEGER, [("a", True)]),
    "Own---untested.json": (_INTEGER, []),
    "Own---not-compiled.json": ({"not": _INTEGER}, [(17, False)]),
}


def _options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group())
    return parser.parse_args(words)


def _checkout(folder: Path, runner: str) -> Path:
    contents = {
        "maskbench/__init__.py": "",
        "maskbench/runner.py": runner,
        "scripts/run_maskbench.py": _SCRIPT,
        "scripts/maskbench_results.py": _TABLE,
    }
    for name, (schema, tests) in _FILES.items():
        listed = [{"valid": valid, "data": data} for data, valid in tests]
        contents[f"data/{name}"] = json.dumps({"schema": schema, "tests": listed})
    for name, content in contents.items():
        path = folder / "maskbench" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder


def test_without_a_checkout_it_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it says, whether none is named or what is named is none."""
    expected = {"not_run": "CSBDATA_MASKBENCH names no checkout"}
    monkeypatch.delenv("CSBDATA_MASKBENCH", raising=False)
    assert measure(_options()) == expected
    for named in ("", str(tmp_path)):
        monkeypatch.setenv("CSBDATA_MASKBENCH", named)
        assert measure(_options()) == expected


@pytest.mark.nightly
def test_its_programs_are_compared_with_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes and masks are equal, each has its time, and both have its table."""
    checkout = _checkout(tmp_path / "checkout", _RUNNER)
    monkeypatch.setenv("CSBDATA_MASKBENCH", str(checkout))
    words = ["--maskbench-engines", "llguidance", "--maskbench-turns", "1"]
    vocabulary = str(made.byte_level(tmp_path / "vocabulary"))
    found = measure(_options(*words, "--maskbench-vocabulary", vocabulary))
    figures = found["llguidance"]
    assert figures["different"] == {}
    assert (figures["equal"], figures["of"]) == (5, 5)
    assert figures["outcomes"] == {
        "passed": 1,
        "let through": 1,
        "refused": 1,
        "compiled, no tests": 1,
        "compile error": 1,
    }
    masks = figures["masks"]
    assert masks["csbdata"] == masks["MaskBench"] > 0
    assert all(ratio > 0 for ratio in figures["processor_ratios"].values())
    tables = figures["tables"]
    assert tables["csbdata"]["tokens"] == tables["MaskBench"]["tokens"]
    assert tables["MaskBench"]["metric"] == "LLGuidance"
    assert tables["csbdata"]["metric"].startswith("llguidance 1.")


@pytest.mark.nightly
def test_a_runner_that_does_not_run_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last words are the reason; its script, which would not end, is not run."""
    checkout = _checkout(tmp_path / "checkout", "import no_such_engine")
    monkeypatch.setenv("CSBDATA_MASKBENCH", str(checkout))
    vocabulary = str(made.byte_level(tmp_path / "vocabulary"))
    words = ["--maskbench-engines", "llguidance", "--maskbench-vocabulary", vocabulary]
    assert measure(_options(*words))["llguidance"] == {
        "not_run": "MaskBench's runner: ModuleNotFoundError: No module named "
        "'no_such_engine'"
    }


def test_files_are_drawn_by_their_names(tmp_path: Path) -> None:
    """The same ones wherever they stand; more of them hold fewer of them."""
    for number in range(20):
        (tmp_path / f"Own---{number}.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("")
    some, more = (drawn_files(tmp_path, count) for count in (5, 10))
    assert len(some) == 5
    assert set(some) < set(more)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, "no file"),
        ({"pending_file": 1}, "died"),
        ({"num_tests": 1, "compile_error": "x"}, "compile error"),
        (
            {"num_tests": 1, "validation_error": "test #0: EXN should accept"},
            "engine error",
        ),
        (
            {"num_tests": 1, "validation_error": "test #0: should accept but didn't"},
            "refused",
        ),
        ({"num_tests": 1}, "passed"),
        ({"num_tests": 0}, "compiled, no tests"),
    ],
)
def test_an_outcome_is_what_a_file_says(
    result: UntypedJson | None, expected: str
) -> None:
    """A text of an error does not turn it into another outcome."""
    assert outcome(result) == expected


def test_every_difference_is_listed() -> None:
    """A file that we have not, too; masks are counted where both have them."""
    ours: dict[str, UntypedJson] = {"a": {"num_tests": 1, "num_tokens": 5}}
    theirs: dict[str, UntypedJson] = {
        "a": {"num_tests": 1, "num_tokens": 4, "compile_error": "x"},
        "b": {"num_tests": 1, "num_tokens": 9},
    }
    assert compared(ours, theirs) == {
        "equal": 0,
        "of": 2,
        "outcomes": {"compile error": 1, "passed": 1},
        "different": {
            "a": {"csbdata": "passed", "MaskBench": "compile error"},
            "b": {"csbdata": "no file", "MaskBench": "passed"},
        },
        "masks": {"csbdata": 5, "MaskBench": 4},
    }

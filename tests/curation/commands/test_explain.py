"""`csbdata explain` of rules, reasons and rule sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.explain import explain
from curation.core.documents import Reason
from curation.rules.sets import NAMES, rule_set
from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of the command."""
    app = typer.Typer()
    app.command()(explain)
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_json_holds_every_rule_and_reason() -> None:
    """The JSON object lists both sets in order, with sources, and all reasons."""
    code, output = run("--format", "json")
    assert code == 0
    told = json.loads(output)
    assert [each["name"] for each in told["rule_sets"]] == list(NAMES)
    for each in told["rule_sets"]:
        expected = [rule.name for rule in rule_set(each["name"]).all_rules]
        assert [rule["name"] for rule in each["rules"]] == expected
        assert all(rule["source"] and rule["summary"] for rule in each["rules"])
    reasons = {each["reason"]: each for each in told["reasons"]}
    assert set(reasons) == {each.value for each in Reason}
    assert reasons["template"]["rules"]["clean"] == ["template"]
    assert all(each["explanation"] for each in reasons.values())


def test_text_names_each_rule_with_its_source() -> None:
    """For people the same stands in a table, with what each rule flags."""
    code, output = run("clean")
    assert code == 0
    for rule in rule_set("clean").all_rules:
        assert rule.name in output
        assert rule.source in output
    assert "Flags mixed-drafts" in output
    assert "reading and limits" in output
    assert "paper: The rules" not in output


def test_one_set_can_be_asked_for() -> None:
    """With a name, only that set is listed; a wrong one is a usage error."""
    told = json.loads(run("paper", "--format", "json")[1])
    assert [each["name"] for each in told["rule_sets"]] == ["paper"]
    with pytest.raises(BadUsage, match="did you mean paper"):
        rule_set("papr")


def test_a_rule_is_explained_in_each_set() -> None:
    """Its sentence and source, and where it stands."""
    code, output = run("dead-keywords")
    assert code == 0
    assert "dead-keywords: a rule of clean #150" in output
    assert "Source: Comparison of the edited copies" in output
    described = json.loads(run("dead-keywords", "--format", "json")[1])["rule"]
    assert [each["rule_set"] for each in described] == ["clean"]


def test_a_reason_is_explained_without_a_build(tmp_path: Path) -> None:
    """Its sentence and the rules that give it; a rule of that name is shown too."""
    code, output = run("template", "--in", str(tmp_path))
    assert code == 0
    assert "template: a template, not a schema" in output
    assert "given by clean: template" in output
    assert "template: a rule of clean #100" in output
    assert "name a build with --in" in output


@pytest.mark.parametrize(
    "example", ["csbdata explain template", "csbdata explain clean --format"]
)
def test_the_help_has_an_example(example: str) -> None:
    """The help shows how the command is used."""
    assert example in run("--help")[1]

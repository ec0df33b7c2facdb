"""`csbdata rules`."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.rules import rules
from curation.core.documents import Reason
from curation.rules.sets import NAMES, rule_set
from curation.system.errors import BadUsage


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of the command."""
    app = typer.Typer()
    app.command()(rules)
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


@pytest.mark.parametrize("example", ["csbdata rules clean", "csbdata rules --format"])
def test_the_help_has_an_example(example: str) -> None:
    """The help shows how the command is used."""
    assert example in run("--help")[1]

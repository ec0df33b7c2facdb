"""Profiles are read strictly: a typo is one line that names the file and the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.fit.checks import CHECKS
from curation.fit.profile import PARAMETERS, load_profile, load_profiles, profile_names
from curation.system.errors import BadData, BadUsage, NoInput

if TYPE_CHECKING:
    from pathlib import Path

_SMALL = """
name = "mine"
title = "Mine"
date = "2026-11-25"

[sources.page]
title = "A page"
date = "2026-11-25"
evidence = "documented"

[[rules]]
check = "keyword"
names = ["oneOf"]
effect = "refused"
source = "page"
"""


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_of_ours_is_read(name: str) -> None:
    """It has its file's name, and each rule leads to a dated source."""
    profile = load_profile(name)
    assert profile.name == name
    assert profile.rules
    assert all(profile.sources[rule.source].date for rule in profile.rules)


def test_each_check_has_its_parameters() -> None:
    """The reader of profiles and the judge know the same checks."""
    assert CHECKS.keys() == PARAMETERS.keys()


def test_a_file_of_the_users_is_a_profile(tmp_path: Path) -> None:
    """Its path stands where a name does."""
    file = tmp_path / "mine.toml"
    file.write_text(_SMALL, "utf-8")
    assert load_profile(str(file)).rules[0].names == ("oneOf",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "unknown key 'titel': did you mean 'title'?"),
        ("effect", "efect", "unknown key 'efect' in rules[0]: did you mean 'effect'?"),
        ("evidence", "proof", "unknown key 'proof' in sources[page]"),
        ("oneOf", "onOf", "unknown keyword 'onOf' in rules[0]: did you mean 'oneOf'?"),
        ('"keyword"', '"keywrd"', "unknown check 'keywrd' in rules[0]: did you mean"),
        ('source = "page"', 'source = "pge"', "unknown source 'pge' in rules[0]: did"),
        (
            "[[rules]]",
            "[[rules]]\ncheck='tuple'\neffect='refused'\nsource='page'\nmost=3\n[[rules]]",
            "'tuple' in rules[0] takes no 'most'",
        ),
        ('names = ["oneOf"]', "", "'keyword' in rules[0] needs 'names'"),
        ("refused", "denied", "Invalid enum value 'denied' - at `$.rules[0].effect`"),
        ("[[rules]]", "[rules]", "Expected `array`, got `object` - at `$.rules`"),
        ("[sources.page]", "[sources", "not TOML"),
        ('"Mine"', "[" * 3_000, "not TOML"),
    ],
)
def test_a_typo_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Whatever is wrong, the line says the file, the key and what may be meant."""
    file = tmp_path / "mine.toml"
    file.write_text(_SMALL.replace(old, new, 1), "utf-8")
    with pytest.raises(BadData) as error:
        load_profile(str(file))
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_a_name_that_no_target_has_is_wrong_usage(tmp_path: Path) -> None:
    """The likeliest name is proposed; a missing file is missing."""
    with pytest.raises(BadUsage, match="did you mean openai-strict"):
        load_profile("openai-strct")
    with pytest.raises(NoInput):
        load_profile(str(tmp_path / "none.toml"))


def test_two_targets_of_one_name_are_wrong_usage(tmp_path: Path) -> None:
    """Else what one takes would be shown as the other's, as of two versions."""
    file = tmp_path / "older.toml"
    file.write_text(_SMALL.replace('"mine"', '"llguidance"'), "utf-8")
    assert "llguidance" in file.read_text("utf-8")
    with pytest.raises(BadUsage, match="llguidance: two targets of one name"):
        load_profiles(f"llguidance,{file}")
    assert len(load_profiles(f"vllm,vllm,{file}")) == 2

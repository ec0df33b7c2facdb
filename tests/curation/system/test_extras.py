"""What an extra holds is said by the names of its libraries."""

from __future__ import annotations

import pytest

from curation.system import extras
from curation.system.extras import install_extra, libraries_of

_DECLARED = [
    "rich>=15",
    'llguidance>=1.9; extra == "eval"',
    "tokenizers>=0.23 ; extra == 'eval'",
    'torch>=2.13; extra == "models"',
    'csbdata[eval]; extra == "models"',
]


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a project with these requirements."""
    monkeypatch.setattr(extras, "requires", lambda _name: _DECLARED)


def test_an_extra_is_what_the_project_says() -> None:
    """Every library with its version, and no other."""
    assert libraries_of("eval") == ["llguidance>=1.9", "tokenizers>=0.23"]


def test_an_extra_inside_another_is_opened() -> None:
    """What can be typed holds libraries alone: no release of ours is needed."""
    assert libraries_of("models") == [*libraries_of("eval"), "torch>=2.13"]


def test_the_command_can_be_typed() -> None:
    """Each requirement is quoted: `>` is no redirection."""
    command = "python -m pip install 'llguidance>=1.9' 'tokenizers>=0.23'"
    assert install_extra("eval") == command


def test_an_extra_that_is_none_is_named_as_it_is() -> None:
    """Of an older installation, say."""
    assert install_extra("none-such") == "python -m pip install 'csbdata[none-such]'"

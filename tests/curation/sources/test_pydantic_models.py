"""Models of a module of the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.sources.pydantic_models import read_models
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson

SHOP = """
from collections.abc import Callable
from pydantic import BaseModel, TypeAdapter
from pydantic.dataclasses import dataclass
class Item(BaseModel):
    name: str
    price: float
@dataclass
class Order:
    items: list[Item]
class Hook(BaseModel):
    call: Callable[[], int]
class Endless(BaseModel):
    limit: float = float("inf")
class Raising(BaseModel):
    limit: int
    @classmethod
    def __get_pydantic_json_schema__(cls, core, handler):
        raise KeyError("own")
class Plain:
    pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with modules of the user's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_shop.py").write_text(SHOP)
    (tmp_path / "own_empty.py").write_text("from pydantic import BaseModel")
    (tmp_path / "own_broken.py").write_text("1 / 0")
    (tmp_path / "own_ended.py").write_text("import sys; sys.exit(0)")
    return tmp_path


@pytest.mark.usefixtures("here")
def test_models_of_the_module_are_read() -> None:
    """Classes and dataclasses by name; one that JSON cannot say is named."""
    told: list[str] = []
    found = {own.name: own.schema for own in read_models("own_shop", told.append)}
    assert list(found) == ["Item", "Order"]
    order: UntypedJson = found["Order"]
    assert list(order["$defs"]) == ["Item"]
    assert told[0] == "Importing own_shop"
    assert [text.partition(" (")[0] for text in told[1:]] == [
        f"own_shop.{name} has no JSON Schema" for name in ("Endless", "Hook", "Raising")
    ]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("module", "fault", "said"),
    [
        ("own_empty", BadData, "no model with a JSON Schema"),
        ("own_broken", NoInput, "ZeroDivisionError"),
        ("own_ended", NoInput, "SystemExit: 0"),
        ("own_gone", NoInput, "No module named 'own_gone'"),
    ],
)
def test_a_module_without_models_is_told_so(
    module: str, fault: type[Exception], said: str
) -> None:
    """With why it cannot be imported, where that is so."""
    with pytest.raises(fault, match=said):
        read_models(module, print)

"""`curation.publish.push.push` as a program calls it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from curation.packaging.signature import FILE as SIGNATURE
from curation.packaging.signature import signature_fault
from curation.publish import verify
from curation.publish.push import PushOutcome, PushPreview, PushRequest, push
from curation.verification import Verification
from tests.publishing import (
    HASTY,
    NAME,
    UPLOAD_WARNING,
    Connection,
    contents,
    write_folder,
)
from tests.signing import PUBLIC_KEY, write_key

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder counts as verified."""
    found = Verification(findings=())
    monkeypatch.setattr(verify, "verify_folder", lambda *_, **__: found)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Locks are in the user's cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "either --repo"),
        ({"repo": NAME, "to": "x"}, "either --repo"),
        ({"repo": "no-owner"}, "a dataset is OWNER/NAME"),
        ({"to": f"hf://datasets/{NAME}"}, "the Hub is --repo"),
        ({"to": "x", "create_pr": True}, "made for main"),
        ({"repo": NAME, "create_pr": True, "revision": "other"}, "made for main"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """As it is made, before anything is looked at."""
    with pytest.raises(ValueError, match=said):
        PushRequest(folder=tmp_path, **options)


def test_what_is_not_agreed_to_is_not_done(there: Connection, tmp_path: Path) -> None:
    """The preview says all of it; the repository is not even made."""
    folder = write_folder(tmp_path / "x")
    shown: list[PushPreview] = []

    def decline(preview: PushPreview) -> bool:
        shown.append(preview)
        return False

    request = PushRequest(folder=folder, repo=NAME, time_limits=HASTY)
    result = push(request, confirm=decline)
    assert shown == [result.preview]
    assert result.preview.plan.added == tuple(sorted(contents(folder)))
    assert result.preview.headline == f"{NAME} (private): not there yet, will be made"
    assert (result.outcome, result.hub) == (PushOutcome.NOTHING, None)
    assert there.hub.store.repositories == {}


def test_a_signature_goes_with_the_folder(tmp_path: Path) -> None:
    """Written once the push is agreed upon; without a key the old one is taken away."""
    folder, there = write_folder(tmp_path / "x"), tmp_path / "there"
    (folder / "SHA256SUMS").write_text("")
    key = write_key(tmp_path / "key")
    request = PushRequest(folder=folder, to=str(there), sign=key)
    push(request, confirm=lambda _: False)
    assert not (folder / SIGNATURE).exists()
    assert push(request).outcome is PushOutcome.WRITTEN
    assert signature_fault(there, PUBLIC_KEY) == ""
    assert push(request).outcome is PushOutcome.CHECKED
    (folder / SIGNATURE).unlink()
    again = push(replace(request, sign=None))
    assert again.preview.plan.deleted == (SIGNATURE,)
    assert not (there / SIGNATURE).exists()


def test_without_a_callback_everything_is_done(
    there: Connection, tmp_path: Path
) -> None:
    """Pushed; and, asked again, only read back."""
    folder = write_folder(tmp_path / "x")
    request = PushRequest(folder=folder, repo=NAME, time_limits=HASTY)
    first = push(request)
    assert first.outcome is PushOutcome.PUSHED
    assert first.hub is not None
    assert there.seen(first.hub.commit) == contents(folder)
    assert push(request).outcome is PushOutcome.CHECKED


def test_a_folder_is_written_without_the_hub(there: Connection, tmp_path: Path) -> None:
    """The same function, with `to`; the result holds no commit."""
    folder = write_folder(tmp_path / "x")
    result = push(PushRequest(folder=folder, to=str(tmp_path / "y")))
    assert (result.outcome, result.hub) == (PushOutcome.WRITTEN, None)
    assert contents(tmp_path / "y") == contents(folder)
    assert there.hub.asked == []
    assert "commit" not in result.as_json()

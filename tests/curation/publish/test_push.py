"""`curation.publish.push.push` as a program calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.publish import verify
from curation.publish.push import PushOutcome, PushPreview, PushRequest, push
from curation.system.errors import Unavailable
from curation.verification import Finding, Verification
from tests.publishing import (
    HASTY,
    NAME,
    UPLOAD_WARNING,
    Connection,
    contents,
    write_folder,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder counts as verified."""
    found = Verification(findings=())
    monkeypatch.setattr(verify, "verify_folder", lambda *_, **__: found)


def test_a_folder_is_not_pushed_where_a_check_was_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not run is no pass; the line names what is missing."""
    finding = Finding(
        check="loading", where="", detail="no datasets", failure=False, not_run=True
    )
    found = Verification(findings=(finding,))
    monkeypatch.setattr(verify, "verify_folder", lambda *_, **__: found)
    folder = write_folder(tmp_path / "built")
    with pytest.raises(Unavailable, match="no datasets"):
        push(PushRequest(folder=folder, repo=NAME, time_limits=HASTY))


def test_every_push_judges_another_sample(
    there: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own nonce."""
    asked: list[dict[str, object]] = []

    def verified(_folder: Path, **options: object) -> Verification:
        asked.append(options)
        return Verification(findings=())

    monkeypatch.setattr(verify, "verify_folder", verified)
    folder = write_folder(tmp_path / "built")
    for _ in range(2):
        push(PushRequest(folder=folder, repo=NAME, time_limits=HASTY))
    assert there.commits == 2
    first, second = asked
    assert first["nonce"] != second["nonce"]


def test_a_name_without_an_owner_is_refused(tmp_path: Path) -> None:
    """As the request is made, before anything is looked at."""
    with pytest.raises(ValueError, match="a dataset is OWNER/NAME"):
        PushRequest(folder=tmp_path, repo="no-owner")


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

"""A Hub dataset as a folder: what is asked for, and how each refusal ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import huggingface_hub
import pytest
from huggingface_hub import errors

from curation.dataset.editions import open_edition
from curation.huggingface.client_library import httpx
from curation.system.errors import (
    CannotCreate,
    CsbdataError,
    NoInput,
    NotPermitted,
    Unavailable,
)
from tests.builds import KEPT_ROWS, write_build

if TYPE_CHECKING:
    from pathlib import Path


def _answered(kind: type[errors.HfHubHTTPError], status: int) -> Exception:
    """Return an error of the Hub's client with the answer that it carries."""
    request = httpx.Request("GET", "https://hub.test/api/datasets/owner/name")
    response = httpx.Response(status, request=request)
    return kind("no", response=response)


def test_a_hub_dataset_is_read_at_its_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Owner, name and revision are asked for; the folder is read like a build."""
    asked: list[tuple[str, str | None, str]] = []

    def download(
        name: str, *, repo_type: str, revision: str | None, allow_patterns: list[str]
    ) -> str:
        assert "*.parquet" in allow_patterns
        asked.append((name, revision, repo_type))
        return str(folder)

    folder = write_build(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    for where in ("owner/name@v1.0", "hf://datasets/owner/name"):
        assert open_edition(where).rows.height == len(KEPT_ROWS)
    assert asked == [("owner/name", "v1.0", "dataset"), ("owner/name", None, "dataset")]


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (_answered(errors.GatedRepoError, 403), NotPermitted),
        (_answered(errors.RepositoryNotFoundError, 404), NoInput),
        (_answered(errors.RepositoryNotFoundError, 401), NotPermitted),
        (_answered(errors.RevisionNotFoundError, 404), NoInput),
        (_answered(errors.HfHubHTTPError, 403), NotPermitted),
        (_answered(errors.HfHubHTTPError, 500), Unavailable),
        (errors.HFValidationError("name"), NoInput),
        (errors.LocalEntryNotFoundError("offline"), Unavailable),
        (httpx.ReadError("reset"), Unavailable),
        (OSError(28, "No space left on device"), CannotCreate),
    ],
)
def test_every_refusal_is_a_fault(
    error: Exception, fault: type[CsbdataError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gated is 77, not there 66, and unreachable 69."""

    def refuse(*_: object, **__: object) -> str:
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(fault, match="owner/name"):
        open_edition("owner/name")

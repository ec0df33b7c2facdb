"""Verify a dataset folder, or a dataset on the Hub as its readers would get it."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory

from curation.core.hub_names import dataset_name
from curation.system.errors import NoInput
from curation.system.progress import Progress, Quiet
from curation.verification import Verification, verify_folder


def verify(
    where: str,
    *,
    jobs: int = 2,
    whole: bool = False,
    nonce: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify a dataset folder, or a dataset on the Hub; nothing is changed.

    A dataset on the Hub is downloaded whole, past every cache; a folder that exists
    comes before a dataset of the same name.

    Args:
        where: A built folder, or `owner/name` or `owner/name@revision` on the Hub.
        jobs: Worker processes.
        whole: Whether every instance is judged again, and not a sample.
        nonce: Seeds the sample; None for a new one.
        progress: Shows progress on stderr.

    Returns:
        The findings, with failures that forbid publishing, and counts.

    Raises:
        NoInput: no such folder or dataset, or no build in it.
        WorkerDidNotStart: no child process can be started.
        CsbdataError: the Hub cannot be reached, or refuses.

    Example:
        Whether a build may be published::

            for failure in verify("build/JSONSchemaBench").failures:
                print(failure.check, failure.where, failure.detail)
    """
    progress = progress or Quiet()
    with TemporaryDirectory(prefix="csbdata-verify-") as temporary:
        folder = Path(where)
        if not folder.exists():
            folder = _downloaded(where, Path(temporary) / "repository", progress)
        return verify_folder(
            folder,
            jobs=jobs,
            progress=progress,
            whole=whole,
            nonce=token_hex(8) if nonce is None else nonce,
        )


def _downloaded(where: str, folder: Path, progress: Progress) -> Path:
    """Download all files of a dataset on the Hub into a new folder; return it."""
    dataset = dataset_name(where)
    if dataset is None:
        hint = "csbdata build makes one; owner/name is on the Hub"
        raise NoInput("no such folder", where, hint)
    from curation.download.huggingface import HubTimeLimits, hub_client  # noqa: PLC0415 - slow, rarely asked
    from curation.publish.repository import MAIN, HubRepository  # noqa: PLC0415 - slow, rarely asked

    folder.mkdir()
    progress.log(f"{dataset.name}: downloading ...")
    with hub_client(HubTimeLimits()):
        repository = HubRepository(name=dataset.name)
        head = repository.head(dataset.revision or MAIN)
        repository.fetch(head, repository.files(head), folder)
    return folder

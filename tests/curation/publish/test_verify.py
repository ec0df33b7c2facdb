"""What is noticed of a folder while it is verified."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from curation.publish.verify import _stamps

if TYPE_CHECKING:
    import os

    import pytest


def test_what_may_not_be_looked_at_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks name it; a change of any other file is noticed as before."""
    for name in ("open", "closed"):
        (tmp_path / name).touch()
    lstat = Path.lstat

    def closed(path: Path) -> os.stat_result:
        if path.name == "closed":
            raise PermissionError(errno.EACCES, "not for you", str(path))
        return lstat(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", closed)
        assert list(_stamps(tmp_path)) == [str(tmp_path / "open")]

"""Which targets take a schema after safe rewrites: looked up, or not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.fit.profile import load_profile, profile_names
from curation.packaging import rewritten_fits
from curation.packaging.rewritten_fits import FITS, rewritten_fit

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_only_what_every_target_was_asked_as_it_is_today_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another profile's answer, or a missing one, is no "no"; a lost witness is one."""
    monkeypatch.setattr(rewritten_fits, "results_folder", lambda: tmp_path)
    rewritten_fits.known.cache_clear()
    assert rewritten_fit("a" * 64) is None
    first, second, *others = profile_names()
    rows = [
        {
            "schema": letter * 16,
            "target": name,
            "profile": load_profile(name).digest,
            "taken": "after safe rewrites" if name == second else "as it stands",
            "kept": None if name == second else name != first,
        }
        for letter in "abc"
        for name in (first, second, *others)
    ]
    rows.pop()
    rows[len(profile_names())]["profile"] = "of yesterday"
    (tmp_path / "2026.11").mkdir()
    pl.DataFrame(rows).write_parquet(tmp_path / "2026.11" / FITS)
    rewritten_fits.known.cache_clear()
    found = [rewritten_fit(letter * 64) for letter in "abc"]
    rewritten_fits.known.cache_clear()
    assert found == [tuple(sorted([second, *others])), None, None]

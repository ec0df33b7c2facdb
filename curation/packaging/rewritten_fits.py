"""The providers that accept a schema after safe rewrites, by an edition.

To rewrite all records for all targets takes an hour, so a build looks it up.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import polars as pl

from curation.fit.profile import load_profile, provider_names
from curation.system.user_files import results_folder

#: The file of an edition that `python -m bench.edition.fits` writes: a row a record
#: and target.
FITS = "fits.parquet"
#: Digits of a schema's digest in it.
DIGITS = 16
_SAFE = ("as it stands", "after safe rewrites")


@cache
def known() -> Mapping[str, tuple[str, ...]]:
    """Return the targets by the first `DIGITS` of a schema's digest."""
    files = sorted(results_folder().glob(f"*/{FITS}"))
    if not files:
        return {}
    names = provider_names()
    today = {name: load_profile(name).digest for name in names}
    rows = pl.read_parquet(files[-1], glob=False).filter(
        pl.col("profile") == pl.col("target").replace_strict(today, default=None)
    )
    # A rewriting that loses every witness does not count.
    safe = pl.col("taken").is_in(_SAFE) & pl.col("kept").fill_null(value=True)
    of_all = (
        rows.group_by("schema")
        .agg(pl.col("target").filter(safe).unique().sort(), asked=pl.n_unique("target"))
        .filter(pl.col("asked") == len(names))
    )
    return {schema: tuple(own) for schema, own, _ in of_all.iter_rows()}


def rewritten_fit(sha256: str) -> tuple[str, ...] | None:
    """Return the providers that accept a schema after safe rewrites, sorted.

    Those that accept it unchanged are among them.

    Args:
        sha256: The digest of its canonical form.

    Returns:
        Their names; None if it was not measured for all targets as they are today.
    """
    return known().get(sha256[:DIGITS])

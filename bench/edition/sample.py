"""Draw the sample of an edition: 1,000 records of a build, the same for every engine.

Records stand in the order of config, dialect and size, and among equals of a seeded
digest; every n-th is drawn. The ids are printed in an order in which any beginning is
spread over the whole (multiples of the golden ratio), so that the first 300 are as
stratified as all. Vacuous records are left out, as `csbdata eval` leaves them out.

Usage: python -m bench.edition.sample BUILD > results/EDITION/sample.txt
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

import polars as pl

COUNT = 1000
SEED = 38
#: The golden ratio's fractional part: its multiples are spread evenly over 0 to 1.
_GOLDEN = (5**0.5 - 1) / 2
_COLUMNS = ("unique_id", "dialect", "dialect_found", "size", "vacuous")


def sample(build: Path) -> list[str]:
    """Return `CONFIG/ID` of the records of the sample."""
    keys = []
    for path in sorted(build.glob("[A-Z]*/*.parquet")):
        for row in pl.read_parquet(path, columns=list(_COLUMNS)).iter_rows(named=True):
            if not row["vacuous"]:
                name = f"{path.parent.name}/{row['unique_id']}"
                draft = row["dialect"] or row["dialect_found"] or ""
                digest = sha256(f"{SEED}:{name}".encode()).hexdigest()
                keys.append((path.parent.name, draft, row["size"], digest, name))
    keys.sort()
    step = len(keys) / COUNT
    drawn = [keys[int((place + 0.5) * step)][-1] for place in range(COUNT)]
    order = sorted(range(COUNT), key=lambda place: place * _GOLDEN % 1)
    # The k-th of the order is the record whose place is the k-th smallest multiple.
    spread = sorted(range(COUNT), key=order.__getitem__)
    return [drawn[place] for place in spread]


if __name__ == "__main__":
    print("\n".join(sample(Path(sys.argv[1]))))

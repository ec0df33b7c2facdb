"""Schemas that the published edition has and a build of ours may not have."""

from __future__ import annotations

import tarfile
from hashlib import sha256
from pathlib import Path

from evaluation.core.records import Record


def published_glaive(reference: str, count: int) -> list[Record]:
    """Return schemas of the published edition's Glaiveai2K, drawn by digest."""
    archive = Path(reference) / "published_sample.tar.xz"
    found: list[Record] = []
    with tarfile.open(archive) as opened:
        for member in opened:
            folder, _, name = member.name.removeprefix("published_sample/").partition(
                "/"
            )
            content = opened.extractfile(member)
            if folder == "Glaiveai2K" and content is not None:
                sample = Record(
                    id=name.removesuffix(".json"),
                    group=folder,
                    schema=content.read().decode(),
                    dialect="2020-12",
                )
                found.append(sample)
    return sorted(found, key=lambda sample: sha256(sample.id.encode()).digest())[:count]

"""What is refused before a build begins.

Sources that are not as they must be; and a place where another build stands, which is
not replaced in silence. The same build by a later version of csbdata is no other one:
what was asked is compared, not what came of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Origin
from curation.packaging.manifest import FILE, read_manifest
from curation.system.errors import BadData, CannotCreate, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.packaging.manifest import Manifest
    from curation.pipeline.inputs import BuildInput, MissingSource


def refuse_incomplete(
    inputs: Sequence[BuildInput],
    missing: Sequence[MissingSource],
    *,
    strict: bool,
    allow_partial: bool,
) -> None:
    """Refuse what `--missing` and the rule set do not allow.

    Args:
        inputs: What the build would read.
        missing: What it would lack.
        strict: Whether every source must be upstream.
        allow_partial: Whether sources may be missing.

    Raises:
        Unavailable: naming each source that is not as it must be.
    """
    if missing and not allow_partial:
        raise Unavailable(
            "; ".join(f"{absent.source.name} ({absent.why})" for absent in missing),
            "cannot be had here",
            "give a mirror with --mirror, or go on without them: --missing skip",
        )
    lesser = [
        f"{given.source.name} ({given.reading.origin})"
        for given in inputs
        if given.reading.origin not in {Origin.UPSTREAM, Origin.LOCAL}
    ]
    if strict and lesser:
        raise Unavailable(
            ", ".join(lesser),
            "not from upstream",
            "give a mirror with --mirror, or leave --missing out",
        )


def refuse_other_build(
    out: Path, rules: str, options: Sequence[str], inputs: Sequence[BuildInput]
) -> None:
    """Refuse a place where another build stands than the one that is asked.

    Args:
        out: The dataset folder to write.
        rules: Name of the rule set that is asked.
        options: What is asked beside it (`BuildRequest.options`).
        inputs: What the new build would read.

    Raises:
        CannotCreate: another build stands there; says in what it differs (exit 73).
    """
    if not (out / FILE).is_file():
        return
    try:
        found = read_manifest(out)
        differences = list(_differences(found, rules, options, inputs))
    except BadData as error:
        differences = [f"its manifest.json cannot be read ({error.what})"]
    if differences:
        raise CannotCreate(
            f"holds another build ({'; '.join(differences)})",
            str(out),
            "--replace replaces it, --out DIR leaves it as it is",
        )


def _differences(
    found: Manifest,
    rules: str,
    options: Sequence[str],
    inputs: Sequence[BuildInput],
) -> Iterator[str]:
    """Say in what a build differs from the one that is asked."""
    if found.rules != rules:
        yield f"rules {found.rules}, not {rules}"
    before, now = set(found.options), set(options)
    if before - now:
        yield f"with {', '.join(sorted(before - now))}, which is not asked now"
    if now - before:
        yield f"without {', '.join(sorted(now - before))}, which is asked now"
    old = {pin.source: (pin.archive, pin.origin, pin.sha256) for pin in found.pins}
    new = {
        given.pin.source: (given.pin.archive, given.pin.origin, given.pin.sha256)
        for given in inputs
    }
    for source in dict.fromkeys([*old, *new]):
        if old.get(source) != new.get(source):
            yield f"{source} {_input(old.get(source))}, not {_input(new.get(source))}"


def _input(read: tuple[str, str, str] | None) -> str:
    if read is None:
        return "left out"
    archive, origin, digest = read
    return f"from {archive} ({origin}, {digest[:8]})"

"""Which of the ten configs of a build are real, which are sample, which are absent.

The build's last lines say it, and whoever measures on a build repeats it: figures of
the embedded sample are no figures of the benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.core.benchmark import CONFIGS
from curation.core.documents import Origin
from curation.packaging.manifest import FILE, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.packaging.manifest import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOrigins:
    """Where the ten configs of one build come from, each group in benchmark order."""

    #: Config to `upstream` or `index`: schemas that others have published.
    real: Mapping[str, str]
    #: Configs that hold the embedded sample, which was written for this project.
    sample: tuple[str, ...]
    #: Configs of the ten of which the build has read nothing.
    absent: tuple[str, ...]
    #: The manifest's sentences that say why the build is partial.
    reasons: tuple[str, ...]

    @property
    def partial(self) -> bool:
        """Whether the build is anything less than the whole benchmark."""
        return bool(self.sample or self.absent or self.reasons)

    @property
    def sentence(self) -> str:
        """How many of the ten are real, and which are not.

        Example:
            `9 of the ten configs are real; the embedded sample stands for Glaiveai2K`
        """
        verb = "are" if len(self.real) > 1 else "is"
        parts = [f"{len(self.real) or 'none'} of the ten configs {verb} real"]
        if self.sample:
            parts.append(f"the embedded sample stands for {_listed(self.sample)}")
        if self.absent:
            parts.append(f"without {_listed(self.absent)}")
        return "; ".join(parts)


def _listed(configs: Sequence[str]) -> str:
    return "all ten" if len(configs) == len(CONFIGS) else ", ".join(configs)


def origins_of(manifest: Manifest) -> BuildOrigins:
    """Return where the ten configs of a build come from, by its manifest."""
    found = {
        config: manifest.configs[config].origin
        for config in CONFIGS
        if config in manifest.configs and manifest.configs[config].raw
    }
    return BuildOrigins(
        real={name: own for name, own in found.items() if own != Origin.SAMPLE},
        sample=tuple(name for name, own in found.items() if own == Origin.SAMPLE),
        absent=tuple(config for config in CONFIGS if config not in found),
        reasons=tuple(manifest.partial),
    )


def read_origins(folder: Path) -> BuildOrigins | None:
    """Return where the ten configs of a folder come from; None if it is no build.

    Args:
        folder: Any folder; a build has a `manifest.json`.

    Raises:
        BadData: its manifest is not one that csbdata writes.

    Example:
        >>> origins = read_origins(Path("build/JSONSchemaBench"))
        >>> if origins is not None and origins.partial:
        ...     print(origins.sentence, *origins.reasons)
    """
    if not (folder / FILE).is_file():
        return None
    return origins_of(read_manifest(folder))

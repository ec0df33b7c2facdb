"""The shards of a build, and how they are joined.

A shard is a run folder with a header. It has every n-th batch of the pinned inputs. All
shards of one build are joined, each once and whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from curation.pipeline.instance_step import FinishedInstances
from curation.pipeline.request import BuildIdentity
from curation.system.errors import BadConfiguration, BadData, CannotCreate, NoInput
from curation.workers.run_folder import COMPLETIONS, FinishedWork

#: The file that makes a folder a shard.
FILE: Final = "shard.json"
#: Name of the piece of finished work that holds fastjsonschema's verdicts.
VERDICTS: Final = "verdicts"
#: The shard of a build that is not divided.
WHOLE: Final = (1, 1)


class ShardHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a shard is a part of."""

    #: Part (from 1) and number of parts.
    shard: tuple[int, int]
    #: What was asked beside the rules (`BuildRequest.options`).
    options: tuple[str, ...]
    identity: BuildIdentity
    #: How many documents it has worked on; None before its end.
    documents: int | None = None

    @property
    def name(self) -> str:
        """Which part of how many, as in `2/3`."""
        return shard_name(self.shard)

    def differences(self, other: ShardHeader) -> list[str]:
        """Say in what the build of this shard differs from that of another."""
        differences = self.identity.differences(other.identity)
        if self.options != other.options:
            differences.append(
                f"{_options(self.options)}, not {_options(other.options)}"
            )
        return differences


def _options(names: Sequence[str]) -> str:
    return f"with {', '.join(names)}" if names else "without options"


def shard_name(shard: tuple[int, int]) -> str:
    """Return a shard as `2/3`."""
    return f"{shard[0]}/{shard[1]}"


def has_batch(shard: tuple[int, int], number: int) -> bool:
    """Return whether a batch of a build, by its number, is one of a shard's.

    Example:
        >>> [has_batch((part, 2), 4) for part in (1, 2)]
        [True, False]
    """
    part, parts = shard
    return number % parts == part - 1


def read_header(folder: Path) -> ShardHeader | None:
    """Return the header of a shard, None if there is none.

    Raises:
        BadData: it cannot be read.
    """
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=ShardHeader)
    except OSError:
        return None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadData(
            f"is no header of a shard ({error})",
            str(folder / FILE),
            "run the command of this shard again in another folder",
        ) from error


def refuse_other_shard(folder: Path, header: ShardHeader) -> None:
    """Refuse a place where another shard stands than the one that is asked.

    Raises:
        CannotCreate: another shard, or something else, stands there.
    """
    present = read_header(folder)
    if present is not None:
        differences = present.differences(header)
        if present.shard != header.shard:
            differences.append(f"shard {present.name}, not {header.name}")
        if differences:
            raise CannotCreate(
                f"holds another shard ({'; '.join(differences)})",
                str(folder),
                "--replace replaces it, --out DIR leaves it as it is",
            )


@dataclass(frozen=True, slots=True)
class JoinedShards:
    """The finished work of all shards of a build; of none if it is not divided.

    Example:
        >>> joined = JoinedShards.open([Path("part-1"), Path("part-2")], wanted)
    """

    #: In the order of their parts.
    folders: tuple[Path, ...] = ()
    work: tuple[FinishedWork, ...] = ()

    @classmethod
    def open(cls, folders: Sequence[Path], build: ShardHeader) -> JoinedShards:
        """Open the shards of a build, which are all there and of this very build.

        Args:
            folders: The shards, in any order.
            build: The header of the build that joins them.

        Raises:
            NoInput: a folder is no shard.
            BadData: a shard has not come to its end, is missing or is there twice.
            BadConfiguration: a shard is of another build; says in what.
        """
        headers = [(folder, _finished_header(folder)) for folder in folders]
        for folder, header in headers:
            if differences := header.differences(build):
                raise BadConfiguration(
                    f"is a shard of another build ({'; '.join(differences)})",
                    str(folder),
                    "join it where it was made, or make it anew here",
                )
        ordered = _in_order(headers)
        fingerprint = build.identity.fingerprint
        work = tuple(
            FinishedWork(folder / COMPLETIONS, fingerprint) for folder in ordered
        )
        return cls(tuple(ordered), work)

    def batch(self, number: int, name: str) -> bytes | None:
        """Return a batch that a shard has finished, None if there are no shards.

        Args:
            number: The batch's number in the build.
            name: The name of the piece of finished work.

        Raises:
            BadData: the shard that should have it has not.
        """
        if not self.work:
            return None
        owner = number % len(self.work)
        content = self.work[owner].find(name)
        if content is None:
            raise BadData(
                f"{name} is missing or damaged",
                str(self.folders[owner]),
                f"run the command of shard {owner + 1}/{len(self.work)} again",
            )
        return content

    def verdicts(self) -> dict[str, str]:
        """Return fastjsonschema's verdicts by the digest of a record."""
        verdicts: dict[str, str] = {}
        for own in self.work:
            stored = own.find(VERDICTS) or b"{}"
            verdicts |= msgspec.json.decode(stored, type=dict[str, str])
        return verdicts

    def instances(self) -> FinishedInstances:
        """Return the instances that the shards have made."""
        return FinishedInstances([own.find for own in self.work])


def _finished_header(folder: Path) -> ShardHeader:
    header = read_header(folder)
    if header is None:
        raise NoInput("is no shard of a build", str(folder))
    if header.documents is None:
        raise BadData(
            f"shard {header.name} has not come to its end",
            str(folder),
            "run its command again: it goes on from there",
        )
    return header


def _in_order(headers: Sequence[tuple[Path, ShardHeader]]) -> list[Path]:
    """Return the folders in the order of their parts.

    Raises:
        BadData: a shard is missing, is there twice or is of another division.
    """
    numbers = {header.shard[1] for _, header in headers}
    if len(numbers) > 1:
        divided = ", ".join(str(number) for number in sorted(numbers))
        raise BadData(
            f"builds divided into {divided} parts do not fit together",
            _folders(headers),
            "name the shards of one division",
        )
    by_part: dict[int, Path] = {}
    for folder, header in headers:
        part = header.shard[0]
        if part in by_part:
            raise BadData(
                f"holds shard {header.name}, as {by_part[part]} does",
                str(folder),
                "name one of them",
            )
        by_part[part] = folder
    parts = numbers.pop() if numbers else 0
    missing = [
        shard_name((part, parts)) for part in range(1, parts + 1) if part not in by_part
    ]
    if missing:
        raise BadData(
            f"without shard {', '.join(missing)}",
            _folders(headers),
            "name the folders of all shards",
        )
    return [by_part[part] for part in sorted(by_part)]


def _folders(headers: Sequence[tuple[Path, ShardHeader]]) -> str:
    return ", ".join(str(folder) for folder, _ in headers)

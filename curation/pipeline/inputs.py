"""Choose the archives of sources, for a build or the cache; list missing ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.benchmark import DEFAULT, OTHER_FOLDERS, UNNAMED
from curation.core.documents import Files, Origin
from curation.download.acquire import (
    Acquired,
    UnavailableArchive,
    acquire,
    fetch_together,
)
from curation.download.cache import FetchSettings
from curation.download.packs import FolderFiles, open_files
from curation.download.pins import ArchivePin, load_pins, pins_for
from curation.packaging.manifest import Pin
from curation.sources.local import SOURCE as LOCAL
from curation.sources.local import open_source, require_files
from curation.sources.readers import (
    SAMPLE_ATTRIBUTION,
    SAMPLE_COMMIT,
    SAMPLE_LICENCE,
    SAMPLE_REASON,
    Reading,
    Source,
)
from curation.sources.registry import source_named, sources
from curation.system.errors import BadUsage, NoInput
from curation.system.progress import Progress
from curation.system.registry import closest_names
from curation.system.user_files import raw_folder

_CONFIG_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
_NAMES = "`csbdata sources` lists them; a file or folder is named by its path"
#: A source with a quota has this one there, small enough that the sample meets it.
SAMPLE_QUOTA = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSource:
    """A source that the user adds, outside the ten configs.

    Example:
        >>> ExtraSource.parse("Acme=schemas/")
        ExtraSource(source='schemas/', config='Acme')
        >>> ExtraSource.parse("api.yaml").config is None
        True
    """

    #: The name of an extra source, as `csbdata sources` lists it, or a source
    #: expression (`curation.sources.local.open_source`).
    source: str
    #: The config of the user's own schemas; None for a name made of the expression.
    config: str | None = None

    @classmethod
    def parse(cls, text: str) -> ExtraSource:
        """Return the source that `--with [CONFIG=]SOURCE` names."""
        config, equals, source = text.partition("=")
        if equals and _CONFIG_NAME.fullmatch(config) and not Path(text).exists():
            return cls(source=source, config=config)
        return cls(source=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildInput:
    """One source with the files that it is read from."""

    source: Source
    reading: Reading
    #: Where the files are: a pack, or a folder.
    files: Path
    pin: Pin
    #: What the archive is known to lack; None for nothing.
    lacks: str | None = None
    #: The archives that would have come first and could not be had.
    not_had: tuple[UnavailableArchive, ...] = ()

    @property
    def configs(self) -> tuple[str, ...]:
        """The configs that it fills."""
        config = self.reading.config
        return self.source.configs if config is None else (config,)

    @property
    def partial(self) -> str | None:
        """Why the configs of this source are not whole; None if they are."""
        if self.reading.origin is Origin.SAMPLE:
            return SAMPLE_REASON
        return self.lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSource:
    """One source that cannot be read here, and why."""

    source: Source
    why: str
    #: The archives that could not be had.
    not_had: tuple[UnavailableArchive, ...] = ()

    @property
    def configs(self) -> tuple[str, ...]:
        """The configs that the build lacks."""
        return self.source.configs


def choose_inputs(  # noqa: PLR0913 (one argument for each option)
    rules: str,
    extras: Sequence[ExtraSource],
    settings: FetchSettings,
    *,
    only: Sequence[ExtraSource] = (),
    sample: bool,
    progress: Progress,
) -> tuple[list[BuildInput], list[MissingSource]]:
    """Return the best files that can be reached for each source, in order.

    Rule set `paper` takes only its own pins: an unavailable archive is missing there,
    where `clean` would take the sample.

    Args:
        rules: Name of the rule set.
        extras: Sources in addition to those that a build reads anyway.
        settings: Places of archives.
        only: The sources to read in place of those.
        sample: Use the embedded sample for every source that it has.
        progress: Prints what takes time, and how many sources are found.

    Raises:
        CsbdataError: an archive is damaged or has a wrong digest; an extra is unknown.
    """
    _refuse_taken_names([extra.config for extra in (*only, *extras)])
    # The user's own schemas are opened before anything is fetched.
    selection = [
        _open_extra(argument, rules, progress.log) for argument in (*only, *extras)
    ]
    _refuse_taken_names(
        [item.reading.config for item in selection if isinstance(item, BuildInput)]
    )
    if not only:
        selection[:0] = default_sources(rules, sample=sample)
    # A source given twice, or read anyway.
    names = [item.name for item in selection if isinstance(item, Source)]
    for name in names:
        if names.count(name) > 1:
            raise BadUsage("is part of this build already", name, "name it once")
    choices: list[BuildInput | MissingSource] = []
    with progress.bar("Looking for the sources", len(selection)) as advance:
        for item in selection:
            if isinstance(item, BuildInput):
                choices.append(item)
            else:
                choices += _find(item, rules, settings, progress.log, sample=sample)
            advance(1)
    inputs = [choice for choice in choices if isinstance(choice, BuildInput)]
    missing = [choice for choice in choices if isinstance(choice, MissingSource)]
    return inputs, missing


def default_sources(rules: str = "clean", *, sample: bool = False) -> list[Source]:
    """Return the sources of a build by default, the ten configs' first.

    Rule set `paper` has the ten alone, and so has the embedded sample.
    """
    only_ten = sample or rules == "paper"
    return [
        source
        for source in sources().values()
        if not source.extra or (source.by_default and not only_ten)
    ]


def _refuse_taken_names(configs: Sequence[str | None]) -> None:
    """Refuse a config's name that is in use, or cannot be a folder.

    Raises:
        BadUsage: naming the config.
    """
    used = {DEFAULT, UNNAMED, *OTHER_FOLDERS}
    used.update(*(source.configs for source in sources().values()))
    # Where names differ by case alone, some systems have one folder for both.
    used = {name.casefold() for name in used}
    for name in filter(None, configs):
        if not _CONFIG_NAME.fullmatch(name):
            fault = "cannot be a config's name"
        elif name.casefold() in used:
            fault = "there is a config or a folder of this name already"
        else:
            used.add(name.casefold())
            continue
        raise BadUsage(fault, name, "choose another: --with NAME=SOURCE")


def _open_extra(
    extra: ExtraSource, rules: str, log: Callable[[str], None]
) -> Source | BuildInput:
    """Return a source of csbdata's, or the user's own schemas, opened.

    What is not read of them is printed.

    Raises:
        BadUsage: no such source exists.
        CsbdataError: the expression cannot be opened, or nothing in it is read.
    """
    source = sources().get(extra.source)
    if extra.config is None and source is not None and source is not LOCAL:
        return source
    try:
        opened = open_source(extra.source, log)
    except NoInput:
        if extra.config is None and not {"/", ":", "#", "."} & set(extra.source):
            # More likely a misspelt name than a path.
            try:
                source_named(extra.source)
            except BadUsage as error:
                raise BadUsage(str(error), hint=_NAMES) from error
        raise
    if unread := require_files(opened):
        log(unread)
    digest = opened.files.digest
    pin = Pin(
        source=LOCAL.name,
        archive=LOCAL.name,
        origin=Origin.LOCAL,
        commit=digest,
        sha256=digest,
        licence="NOASSERTION",
    )
    path = (opened.path or Path()).absolute()
    config = extra.config or opened.name
    return _input(LOCAL, rules, pin, opened.files, path, config=config)


def _input(
    source: Source,
    rules: str,
    pin: Pin,
    files: Files,
    path: Path,
    **facts: Any,  # noqa: ANN401 (fields of `Reading`)
) -> BuildInput:
    reading = Reading(
        files=files,
        archive=pin.archive,
        commit=pin.commit,
        licence=pin.licence,
        collection_licence=pin.licence,
        origin=pin.origin,
        rules=rules,
        lists=raw_folder() / "lists",
    )
    reading = replace(reading, **facts)
    return BuildInput(source=source, reading=reading, files=path, pin=pin)


def _find(
    source: Source,
    rules: str,
    settings: FetchSettings,
    log: Callable[[str], None],
    *,
    sample: bool,
) -> Sequence[BuildInput | MissingSource]:
    """Return the inputs of a source; the sample does not replace every extra."""
    if sample:
        choice = _find_in_sample(source, rules)
        if isinstance(choice, BuildInput) or not source.extra:
            return [choice]
    if source.in_parts:
        return _find_parts(source, rules, settings, log)
    return [_find_pinned(source, rules, settings, log)]


def _find_parts(
    source: Source, rules: str, settings: FetchSettings, log: Callable[[str], None]
) -> Sequence[BuildInput | MissingSource]:
    """Return an input for each available archive of a source."""
    pins = pins_for(source.name, source.archives.get(rules, ()))
    inputs: list[BuildInput] = []
    not_had: list[UnavailableArchive] = []
    fetch_together(pins.values(), settings, log)
    for pin in pins.values():
        got = acquire(pin, settings, log)
        if isinstance(got, UnavailableArchive):
            not_had.append(got)
        else:
            part = replace(got, commit=f"{pin.repository}@{got.commit}")
            inputs.append(_pinned_input(source, rules, pin, part))
    lacks = f"{len(not_had)} of {len(pins)} archives cannot be had"
    if not_had and (rules == "paper" or not inputs):
        why = f"{lacks}; the first: {not_had[0].why}"
        return [MissingSource(source=source, why=why, not_had=tuple(not_had))]
    if not_had:
        lacks += f": {', '.join(absent.archive for absent in not_had)}"
        inputs[0] = replace(inputs[0], lacks=lacks, not_had=tuple(not_had))
    return inputs


def _find_pinned(
    source: Source, rules: str, settings: FetchSettings, log: Callable[[str], None]
) -> BuildInput | MissingSource:
    """Return the source from the best of its archives, otherwise from the sample."""
    not_had: list[UnavailableArchive] = []
    for pin in pins_for(source.name, source.archives.get(rules, ())).values():
        got = acquire(pin, settings, log)
        if not isinstance(got, UnavailableArchive):
            pinned = _pinned_input(source, rules, pin, got)
            lacks = source.lacks.get(pin.name)
            return replace(pinned, lacks=lacks, not_had=tuple(not_had))
        not_had.append(got)
    sample = _find_in_sample(source, rules)
    if rules != "paper" and isinstance(sample, BuildInput):
        return replace(sample, not_had=tuple(not_had))
    why = "; ".join(absent.why for absent in not_had)
    return MissingSource(source=source, why=why, not_had=tuple(not_had))


def _pinned_input(
    source: Source, rules: str, pin: ArchivePin, got: Acquired
) -> BuildInput:
    actual = Pin(
        source=source.name,
        archive=pin.name,
        origin=got.origin,
        commit=got.commit,
        sha256=got.digest,
        licence=pin.licence,
        attribution=pin.attribution,
        url=pin.homepage,
    )
    # Single files may be under other terms than the collection.
    files, licence = open_files(got.pack), got.licence
    return _input(source, rules, actual, files, got.pack, licence=licence)


def _find_in_sample(source: Source, rules: str) -> BuildInput | MissingSource:
    """Return the source as the embedded sample has it, in an archive's layout."""
    sample = raw_folder() / "sample"
    for name in source.archives.get(rules, ()):
        if not (sample / name).is_dir():
            continue
        files = FolderFiles(sample / name)
        pin = Pin(
            source=source.name,
            archive=name,
            origin=Origin.SAMPLE,
            commit=SAMPLE_COMMIT,
            sha256=files.digest,
            licence=SAMPLE_LICENCE,
            attribution=SAMPLE_ATTRIBUTION,
        )
        small = replace(source, quota=source.quota and SAMPLE_QUOTA)
        lists = sample / "lists"
        return _input(small, rules, pin, files, sample / name, lists=lists)
    return MissingSource(source=source, why=f"the sample has nothing of {source.name}")


class Acquisition(NamedTuple):
    """Outcomes of the requested archives."""

    #: By name of the archive, in the order of `raw/sources.toml`.
    archives: Mapping[str, Acquired | UnavailableArchive]
    #: Unavailable names, with the exit code: 75 if it may be had later, or 69.
    missing: Mapping[str, int]


def acquire_all(
    names: Sequence[str], settings: FetchSettings, log: Callable[[str], None]
) -> Acquisition:
    """Acquire what sources or archives need.

    For a source each rule set's first available archive is acquired. It is
    missing if the rule set `clean` has none. For a source in parts each archive is
    acquired, and it is missing if any is unavailable.

    Args:
        names: Names of sources or archives; none for every build's.
        settings: Places of archives.
        log: Prints slow steps.

    Raises:
        BadUsage: a name is neither a source nor an archive.
        CsbdataError: an archive differs from its pin, or the cache cannot be written.
    """
    chains, pins = chains_by_source(names), load_pins()
    acquired: dict[str, Acquired | UnavailableArchive] = {}

    def acquire_first(names: Iterable[str]) -> int:
        """Return 0 once an archive is available, otherwise the worst exit code."""
        code = 0
        for name in names:
            if name not in acquired:
                acquired[name] = acquire(pins[name], settings, log)
            archive = acquired[name]
            if isinstance(archive, Acquired):
                return 0
            code = max(code, archive.exit_code)
        return code

    missing = {}
    for name, by_rules in chains.items():
        parts = [pins[part] for part in by_rules if part in pins]
        fetch_together(parts, settings, log)
        codes = {rules: acquire_first(chain) for rules, chain in by_rules.items()}
        code = codes.get("clean", max(codes.values()))
        if code:
            missing[name] = code
    archives = {name: acquired[name] for name in pins if name in acquired}
    return Acquisition(archives=archives, missing=missing)


def chains_by_source(
    names: Sequence[str],
) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """Return the archives of each name: rule set or part to archives, best first.

    Args:
        names: Names of sources or archives; none for every build's.

    Raises:
        BadUsage: a name is neither a source nor an archive.
    """
    registered, pins = sources(), load_pins()
    chains: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for name in names or [source.name for source in default_sources()]:
        if name in registered:
            source = registered[name]
            archives = pins_for(name, chain.from_iterable(source.archives.values()))
            parts = {archive: (archive,) for archive in archives}
            chains[name] = parts if source.in_parts else source.archives
        elif name in pins:
            chains[name] = {"clean": (name,)}
        else:
            alike = closest_names(name, [*registered, *pins], most=2)
            suggestion = f"did you mean {' or '.join(alike)}?" if alike else ""
            hint = suggestion or "see `csbdata sources`"
            raise BadUsage(f"there is no source or archive {name!r}", hint=hint)
    return chains

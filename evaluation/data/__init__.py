"""The data of a run: found by a path, on the Hub or by default, read one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from curation.core.benchmark import CONFIGS, CORE, TOOLS
from curation.core.json_types import Json
from curation.sources.local import open_source
from curation.system.errors import BadData, NoInput, NotPermitted, Unavailable
from curation.system.progress import Progress, Quiet
from curation.system.user_files import absolute
from curation.system.words import counted
from evaluation.core.records import RecordName, RecordSelection
from evaluation.core.run_header import usable_cores
from evaluation.data.own_schemas import OwnSchemaReader

if TYPE_CHECKING:
    from curation.download.cache import FetchSettings
    from evaluation.core.records import Record, RecordName
    from evaluation.data.instance_store import InstanceStore
    from evaluation.data.parquet_tables import ParquetTables


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The records of one run."""

    #: As `--data` names it.
    name: str
    #: `build`, `files`, `hub` or `sample`.
    origin: str
    #: Digest of all the data, chosen or not.
    sha256: str
    #: Number of records.
    count: int
    #: Where instances come from: `given`, `made`, `given and made` or `none`.
    instances: str
    selection: RecordSelection
    #: One line for everything that is not a schema, with the reason.
    left_out: tuple[str, ...]
    #: Number of vacuous records that do not count.
    vacuous: int = 0
    #: One line for every schema that is invalid and stays in.
    remarks: tuple[str, ...] = ()
    #: Reasons why its figures are not the benchmark's, a line each.
    partial: tuple[str, ...] = ()
    #: What `--data` takes from any folder; empty if it has no such name.
    place: str = ""
    #: Yields the records afresh at each call, in the same order; memory does not grow
    #: with their number.
    records: Callable[[], Iterator[Record]]

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        return {
            "name": self.name,
            "place": self.place,
            "origin": self.origin,
            "sha256": self.sha256,
            "schemas": self.count,
            "instances": self.instances,
            "configs": list(self.selection.configs),
            "splits": list(self.selection.splits),
            "left_out": len(self.left_out),
            "vacuous": self.vacuous,
            "invalid": len(self.remarks),
            "partial": list(self.partial),
        }


#: The published benchmark.
PUBLISHED: Final = "epfl-dlab/JSONSchemaBench"
_MAX_SHOWN: Final = 5
#: The note on the sample itself, which was written for this project.
SAMPLE_LINE = "the embedded sample: none of its schemas is one of the benchmark"


def open_data(
    where: str | None = None,
    *,
    selection: RecordSelection | None = None,
    instances: bool = True,
    settings: FetchSettings,
    progress: Progress | None = None,
) -> Dataset:
    """Return the schemas and instances to measure with.

    Args:
        where: A source expression (`curation.sources.local.open_source`), also of
            MaskBench's files; by default the local build, otherwise the published
            benchmark, otherwise the embedded sample, which is built into the cache.
        selection: Which records of all; by default all of them.
        instances: Whether schemas without instances get some, made now and kept in the
            cache.
        settings: Where the cache is, and how things are fetched.
        progress: Shows what takes time.

    Raises:
        NoInput: not found, no schema in it, or none selected.
        BadData: a file in it cannot be read.
        CsbdataError: the Hub cannot be reached, or the cache cannot be written.

    Example:
        >>> settings = FetchSettings.from_environment()
        >>> selection = RecordSelection(limit=50)
        >>> data = open_data("my_schemas", settings=settings, selection=selection)
        >>> for record in data.records():
        ...     print(record.id, len(record.instances))
    """
    selection, progress = selection or RecordSelection(), progress or Quiet()
    name, reader = _reader(where, settings, progress)
    tables = None if isinstance(reader, OwnSchemaReader) else reader
    if tables and selection.configs == (CORE,) and (ids := tables.core()):
        # Its records come from other configs.
        if wanted_ids := selection.ids:
            ids = frozenset(
                id_
                for id_ in ids
                if not wanted_ids.isdisjoint({id_, id_.partition("/")[2]})
            )
            if not ids:
                raise NoInput(
                    f"no record of {CORE} has this id", " ".join(sorted(wanted_ids))
                )
        selection = replace(selection, configs=(), ids=ids)
    folder = tables.folder.resolve() if tables else None
    selected, vacuous = _select(reader, selection, name)
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    if isinstance(reader, OwnSchemaReader):
        left_out = reader.left_out()
        remarks = reader.remarks()
    _say_lines("left out", left_out, progress)
    _say_lines("invalid, and counted all the same", remarks, progress)
    lacking = {index for index, record in selected.items() if not record.complete}
    origins = ["given"] if len(lacking) < len(selected) else []
    origins += ["made"] if lacking and instances else []
    store = None
    if lacking and instances:
        from evaluation.data.instance_store import InstanceStore  # noqa: PLC0415 - heavy, rarely asked

        jobs = min(len(usable_cores()), len(lacking))
        store = InstanceStore(settings.cache, selection.seed, jobs)
        title = f"Making instances of {counted(len(lacking), 'schema')}"
        with progress.bar(title, len(lacking)) as advance:
            store.fill(reader.records(lacking), advance)
    return Dataset(
        name=name,
        origin=reader.origin,
        sha256=reader.sha256(),
        count=len(selected),
        instances=" and ".join(origins) or "none",
        selection=selection,
        left_out=left_out,
        vacuous=vacuous,
        remarks=remarks,
        partial=partial_data(folder, reader.origin, selection.configs),
        place=str(folder) if folder and reader.origin == "sample" else absolute(name),
        records=partial(_records, reader, selected.keys(), lacking, store),
    )


def partial_lines(folder: Path, configs: Collection[str]) -> tuple[str, ...]:
    """Return why figures on a build are not the benchmark's, a line each.

    Args:
        folder: A build, or any folder.
        configs: The measured configs; empty for all.

    Returns:
        Nothing if every measured config is real, or the folder does not record its
        origin.
    """
    from curation.packaging.manifest import FILE, list_origins, read_manifest  # noqa: PLC0415 - of builds alone
    from curation.sources.readers import SAMPLE_REASON  # noqa: PLC0415 - as above

    if not (folder / FILE).is_file():
        return ()
    try:
        manifest = read_manifest(folder)
    except BadData as fault:
        return (f"which configs are real is not known: {fault}",)
    if not manifest.partial:
        return ()
    origins = list_origins(manifest)
    if not configs:
        # Which configs are the sample's is in the sentence.
        return (
            origins.sentence,
            *(why for why in manifest.partial if SAMPLE_REASON not in why),
        )
    sample = [config for config in origins.sample if config in configs]
    lines = [f"the embedded sample stands for {', '.join(sample)}"] if sample else []
    return (
        *lines,
        *(why for why in manifest.partial if any(name in why for name in configs)),
    )


def partial_data(
    folder: Path | None, origin: str, configs: Collection[str]
) -> tuple[str, ...]:
    """Return the lines of `partial_lines`, or the embedded sample's line.

    Args:
        folder: A build, or any folder or file; None for other data.
        origin: Where the data comes from.
        configs: The measured configs; empty for all.
    """
    if origin == "sample":
        return (SAMPLE_LINE,)
    return () if folder is None else partial_lines(folder, configs)


def _say_lines(description: str, lines: Sequence[str], progress: Progress) -> None:
    for line in lines[:_MAX_SHOWN]:
        progress.log(f"{description}: {line}")
    if more := lines[_MAX_SHOWN:]:
        progress.log(f"{description}: {len(more):,} more")


def _reader(
    where: str | None, settings: FetchSettings, progress: Progress
) -> tuple[str, OwnSchemaReader | ParquetTables]:
    if where is not None:
        return where, _of_source(where, progress)
    from curation.dataset.editions import DEFAULT_BUILD  # noqa: PLC0415 - of builds alone

    if DEFAULT_BUILD.is_dir():
        return str(DEFAULT_BUILD), _of_source(str(DEFAULT_BUILD), progress)
    try:
        reader = _of_source(PUBLISHED, progress)
    except (NoInput, NotPermitted, Unavailable) as fault:
        progress.log(
            f"no {DEFAULT_BUILD} here, and {fault}. Measuring the embedded sample; "
            "csbdata build --instances makes the whole benchmark"
        )
        return "sample", built_sample(settings, progress)
    progress.log(f"no {DEFAULT_BUILD} here: measuring {PUBLISHED} of the Hub")
    return PUBLISHED, reader


def _of_source(expression: str, progress: Progress) -> OwnSchemaReader | ParquetTables:
    source = open_source(expression, progress.log)
    if source.tables is None:
        return OwnSchemaReader(source)
    from evaluation.data.parquet_tables import ParquetTables  # noqa: PLC0415 - of builds alone

    tables = ParquetTables.of(source.tables, source.origin)
    return tables or OwnSchemaReader(source)


def built_sample(settings: FetchSettings, progress: Progress) -> ParquetTables:
    """Build the embedded sample into the cache, where it is not yet; open it."""
    from curation.pipeline.build import BuildRequest, build  # noqa: PLC0415 - slow, rarely asked
    from evaluation.data.parquet_tables import ParquetTables  # noqa: PLC0415 - as above

    out = settings.cache / "sample" / "JSONSchemaBench"
    request = BuildRequest(out=out, sample=True, instances=True, fetch=settings)
    progress.log("Building the embedded sample")
    build(request, progress)
    reader = ParquetTables.of(out, "sample")
    if reader is None:
        raise NoInput("the embedded sample has no tables", str(out))
    return reader


def _select(
    reader: OwnSchemaReader | ParquetTables, selection: RecordSelection, name: str
) -> tuple[dict[int, RecordName], int]:
    """Return the selected positions, with their records' names.

    With them the number of vacuous records that are left out.

    Raises:
        NoInput: none is selected.
        NoInput: a config or a split does not exist.
    """
    configs: dict[str, None] = {}
    splits: dict[str, None] = {}
    allowed: dict[int, RecordName] = {}
    vacuous = 0
    records = [*reader.names()]
    is_chosen = bool(selection.configs or selection.ids)
    beside_ten = not is_chosen and any(record.group in CONFIGS for record in records)
    for index, record in enumerate(records):
        configs[record.group] = splits[record.split] = None
        # `Tools` is not one of the ten: --config names it.
        if selection.allows(record) and not (beside_ten and record.group == TOOLS):
            if record.vacuous and not selection.vacuous and not selection.ids:
                vacuous += 1
            else:
                allowed[index] = record
    if not configs:
        raise NoInput("no schema in it", name)
    for names, present, subject in (
        (selection.configs, configs, "config"),
        (selection.splits, splits, "split"),
    ):
        unknown = ", ".join(name for name in names if name not in present)
        if unknown:
            choices = ", ".join(filter(None, present)) or "none"
            raise NoInput(f"no {subject} {unknown}", name, f"there are: {choices}")
    if not allowed:
        ids = ", ".join(sorted(selection.ids)[:3])
        subject = f"no schema in it is {ids or 'of that config and split'}"
        if vacuous:
            subject += f", but for {vacuous:,} vacuous"
        raise NoInput(subject, name, "add --set vacuous=true" if vacuous else "")
    if selection.limit is not None:
        from evaluation.data.sampling import draw  # noqa: PLC0415 - where some are drawn

        named = (
            (number, record.group, record.id) for number, record in allowed.items()
        )
        places = draw(named, selection.limit, selection.seed)
        allowed = {number: allowed[number] for number in places}
    return allowed, vacuous


def _records(
    reader: OwnSchemaReader | ParquetTables,
    places: Collection[int],
    lacking: set[int],
    store: InstanceStore | None,
) -> Iterator[Record]:
    """Yield records in order, with generated instances if they lack their own."""
    records = reader.records(places)
    if store is None:
        return records
    return store.complete(
        (record, index in lacking)
        for index, record in zip(sorted(places), records, strict=True)
    )

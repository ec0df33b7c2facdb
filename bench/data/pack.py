"""Pack a build anew from its own rows; print the seconds of each step as JSON.

Usage: python -m bench.data.pack BUILD OUT
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import is_table
from curation.dataset.parquet import parquet_writer
from curation.packaging.derived_files import is_derived, rebuild


def _as_written(read: pa.Schema) -> pa.Schema:
    """Return columns as a build makes them: parquet calls the items of lists others."""
    return pa.schema(
        [
            (column.name, pa.list_(column.type.value_type))
            if pa.types.is_list(column.type)
            else (column.name, column.type)
            for column in read
        ]
    )


def _is_all_null(column: pq.ColumnChunkMetaData) -> bool:
    """Return whether a column chunk holds nothing, which needs no dictionary."""
    statistics = column.statistics
    return statistics is not None and statistics.num_values == 0


def _rewrite(source: Path, target: Path) -> None:
    """Write a table again: the same row groups, columns, dictionaries."""
    with pq.ParquetFile(source) as file:
        columns = _as_written(file.schema_arrow)
        groups = [
            file.metadata.row_group(number)
            for number in range(file.metadata.num_row_groups)
        ]
        plain = frozenset(
            group.column(number).path_in_schema.partition(".")[0]
            for group in groups
            for number in range(group.num_columns)
            if not group.column(number).has_dictionary_page
            and not _is_all_null(group.column(number))
        )
        with parquet_writer(target, columns, distinct=plain) as writer:
            for number, group in enumerate(groups):
                writer.write_table(
                    file.read_row_group(number).cast(columns),
                    row_group_size=group.num_rows,
                )


def main() -> None:
    """Pack and print."""
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    start = time.perf_counter()
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if not path.is_file() or (is_derived(name) and name != "manifest.json"):
            continue
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_table(path.name):
            _rewrite(path, target)
        else:
            shutil.copyfile(path, target)
    tables = time.perf_counter()
    rebuild(out)
    done = time.perf_counter()
    steps = {"tables": tables - start, "card_plots_digests": done - tables}
    print(json.dumps({name: round(seconds, 3) for name, seconds in steps.items()}))


if __name__ == "__main__":
    main()

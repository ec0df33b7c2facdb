"""Where answers go wrong: by class, depth, breadth, complexity and path."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

from curation.json.values import is_number
from evaluation.reporting.tables import Rate, Table
from evaluation.suites.sob.metrics.names import Metric
from evaluation.suites.sob.mistakes.classes import LEAF_MISTAKES
from evaluation.suites.sob.report.figures import counted, figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.core.suite import ScoredResponse, ScoredRun
    from evaluation.reporting.tables import Cell

#: Upper ends of the classes of breadth: how many leaves a truth has.
_BREADTHS = (5, 10, 15, 20, 40)
_MOST_PATHS = 15


def leaf_table(run: ScoredRun) -> Table:
    """Return the wrong leaves of each model by class, of the answers that parse."""
    rows: list[tuple[Cell, ...]] = []
    for label, listed in run.by_label.items():
        parsed = [one for one in counted(listed) if figure(one, Metric.JSON_PARSE)]
        leaves = sum(_whole(one.verdict.details.get("leaves")) for one in parsed)
        wrong = Counter[str]()
        for one in parsed:
            for mistake, entry in _members(one.verdict.details.get("wrong")).items():
                wrong[mistake] += _whole(_members(entry).get("count"))
        rows.append(
            (label, len(parsed), leaves, *(wrong[mistake] for mistake in LEAF_MISTAKES))
        )
    explained = "; ".join(f"{kind}: {kind.explanation}" for kind in LEAF_MISTAKES)
    return Table(
        title="Wrong leaves",
        columns=("model", "answers", "leaves", *(str(kind) for kind in LEAF_MISTAKES)),
        rows=tuple(rows),
        note=f"Of the answers that parse, valid or not. {explained}.",
        name="leaves",
    )


def depth_table(run: ScoredRun) -> Table:
    """Return the share of right leaves by how deep they stand."""
    rows: list[tuple[Cell, ...]] = []
    for label, listed in run.by_label.items():
        rates: dict[int, list[Rate]] = defaultdict(list)
        for one in counted(listed):
            for depth, pair in _members(one.verdict.details.get("by_depth")).items():
                if isinstance(pair, list):
                    rates[int(depth)].append(Rate(_whole(pair[0]), _whole(pair[1])))
        rows += [(label, depth, Rate.total(rates[depth])) for depth in sorted(rates)]
    return Table(
        title="Right leaves by depth",
        columns=("model", "depth", "right leaves"),
        rows=tuple(rows),
        note="depth: keys and indices on the way to the leaf. An answer that does not "
        "parse has no right leaf; neither hardened nor gated.",
        name="depth",
    )


def breakdown_table(run: ScoredRun) -> Table:
    """Return the main figures by complexity, breadth, depth and family."""
    rows: list[tuple[Cell, ...]] = []
    slices: tuple[tuple[str, Callable[[ScoredResponse], str]], ...] = (
        ("complexity", lambda one: str(one.verdict.details.get("complexity") or "?")),
        ("leaves", _breadth),
        ("deepest leaf", lambda one: str(one.verdict.details.get("depth", "?"))),
        ("family", lambda one: str(one.verdict.details.get("family") or "")),
    )
    for what, slice_of in slices:
        for label, listed in run.by_label.items():
            parts: dict[str, list[ScoredResponse]] = defaultdict(list)
            for one in counted(listed):
                parts[slice_of(one)].append(one)
            rows += [
                (what, part, label, len(parts[part]), *_main(parts[part]))
                for part in sorted(parts, key=_in_order)
                if part
            ]
    return Table(
        title="By complexity, breadth and depth of the truth",
        columns=("of", "is", "model", "records", "pass", "value", "perfect"),
        rows=tuple(rows),
        note="Plain means.",
        name="breakdown",
    )


def _main(listed: Sequence[ScoredResponse]) -> Iterator[float]:
    for metric in (Metric.JSON_PASS, Metric.VALUE_ACCURACY, Metric.PERFECT):
        yield fmean(figure(one, metric) for one in listed)


def _breadth(one: ScoredResponse) -> str:
    leaves = _whole(one.verdict.details.get("leaves"))
    low = 0
    for high in _BREADTHS:
        if leaves <= high:
            return f"{low + 1}-{high}"
        low = high
    return f"over {low}"


def _in_order(part: str) -> tuple[int, str]:
    digits = "".join(sign for sign in part.partition("-")[0] if sign.isdigit())
    return (int(digits or 0) + (part.startswith("over")), part)


def path_table(run: ScoredRun) -> Table:
    """Return the places at which most leaves are wrong."""
    rows: list[tuple[Cell, ...]] = []
    for label, listed in run.by_label.items():
        wrong = Counter[tuple[str, str]]()
        for one in counted(listed):
            for mistake, entry in _members(one.verdict.details.get("wrong")).items():
                places = _members(entry).get("places")
                for place in places if isinstance(places, list) else ():
                    wrong[str(place), mistake] += 1
        rows += [
            (label, place, mistake, count)
            for (place, mistake), count in sorted(
                wrong.items(), key=lambda item: (-item[1], item[0])
            )[:_MOST_PATHS]
        ]
    return Table(
        title="Where most leaves are wrong",
        columns=("model", "place", "mistake", "leaves"),
        rows=tuple(rows),
        note=f"The {_MOST_PATHS} first of each model; * is any index. At most "
        "40 leaves of an answer are counted here.",
        name="paths",
    )


def quality_table(run: ScoredRun) -> Table:
    """Return what is doubtful about the records themselves."""
    doubts: dict[str, set[str]] = defaultdict(set)
    records: set[str] = set()
    for listed in run.by_label.values():
        for one in listed:
            records.add(one.record)
            found = one.verdict.details.get("doubts")
            for doubt in found if isinstance(found, list) else ():
                doubts[str(doubt)].add(one.record)
    explained = {
        "unusable_schema": "no validator takes the schema",
        "invalid_truth": "the schema refuses the truth itself",
        "no_leaves": "the truth has no leaf to be met; --set empty_leaf=true counts "
        "an empty object or array as one",
    }
    return Table(
        title="Data quality",
        columns=("what", "records", "means"),
        rows=tuple(
            (doubt, Rate(len(doubts[doubt]), len(records)), why)
            for doubt, why in explained.items()
        ),
        note="Such records are counted like others; no answer to them can be right.",
        name="quality",
    )


def _members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _whole(value: Json) -> int:
    return int(value) if is_number(value) else 0

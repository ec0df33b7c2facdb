"""Measure part by part, and print one JSON object.

Nothing is asserted: figures are those of this machine, on this day. A part that cannot
be measured has the reason in its place; the exit code is 1 then, and the other parts
are measured all the same. Only the parts named are imported.

Usage: python -m bench [PART ...] [--build FOLDER] [options of the parts]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

#: The module of each part, with `add_options(parser)` and `measure(options)`.
PARTS = {
    part: f"bench.{folder}.{part}"
    for folder, parts in {
        "data": (
            "building",
            "reached",
            "publishing",
            "starting",
            "providers",
        ),
        "engine": ("engines", "official_suite"),
        "model": ("models", "gpu"),
    }.items()
    for part in parts
}


def machine() -> dict[str, Any]:
    """Return what the figures depend on beside the code."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
    }


def measured(part: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return a part's figures, or why there are none."""
    print(f"bench: {part}", file=sys.stderr)
    try:
        figures: dict[str, Any] = import_module(PARTS[part]).measure(options)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - told, in its place
        return {"not_measured": f"{type(error).__name__}: {error}"}
    return figures


def main() -> int:
    """Measure the parts asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--build", type=Path, help="a clean build's folder")
    # What only another part needs may be missing here.
    named = [part for part in PARTS if part in sys.argv[1:]]
    for part in named or PARTS:
        import_module(PARTS[part]).add_options(parser.add_argument_group(part))
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}")
    report = {"machine": machine()}
    for part in options.parts or PARTS:
        report[part] = measured(part, options)
    print(json.dumps(report, indent=2))
    return int(any("not_measured" in part for part in report.values()))


if __name__ == "__main__":
    sys.exit(main())

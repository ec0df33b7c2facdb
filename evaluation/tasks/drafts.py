"""The drafts that `--set drafts=` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.schema.dialects import DIALECTS, Dialect
from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from evaluation.core.run_header import TaskSettings


def draft_named(name: str) -> Dialect:
    """Return the dialect that a draft's name means: `2020-12`, `draft-07`, `7`.

    Raises:
        BadUsage: unknown draft.
    """
    by_name = {dialect.name: dialect for dialect in DIALECTS}
    for candidate in (name, f"draft-{name}", f"draft-0{name}"):
        if candidate in by_name:
            return by_name[candidate]
    names = ", ".join(by_name)
    raise BadUsage(f"there is no draft {name!r}", hint=f"use one of {names}")


def read_drafts(settings: TaskSettings) -> list[Dialect]:
    """Return the drafts of a task's settings, each once; none if none are named.

    Raises:
        BadUsage: not a list, or unknown draft.
    """
    drafts = settings.values.get("drafts") or []
    if not isinstance(drafts, list):
        raise BadUsage("drafts is not a list of drafts", "--set drafts=")
    return [*dict.fromkeys(draft_named(str(name)) for name in drafts)]

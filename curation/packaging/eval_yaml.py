"""The Hub's `eval.yaml`, which makes a dataset repository a benchmark.

It is a beta of the Hub for repositories on a list of its own, and a push with one
that the Hub does not take fails; so it is written on request only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.packaging.card import CardContents

#: The file's name in a dataset folder; the Hub looks for it at the root.
FILE = "eval.yaml"
#: One of the Hub's closed list (`EVALUATION_FRAMEWORKS` of huggingface.js), which
#: lm-evaluation-harness is not on.
_FRAMEWORK = "inspect-ai"
#: The split that is scored.
_SPLIT = "test"


def _tasks(contents: CardContents) -> Iterator[Json]:
    for config in contents.listed:
        if _SPLIT in config.files:
            yield {
                "id": config.name.lower(),
                "config": config.name,
                "split": _SPLIT,
            }


def write_eval_yaml(contents: CardContents, folder: Path) -> str:
    """Write `eval.yaml`; returns its path in the folder.

    Raises:
        OSError: it cannot be written.
    """
    from huggingface_hub import CardData  # noqa: PLC0415 - a tenth of a second

    content = CardData(
        name=contents.summary.name,
        description="Does an answer have the JSON Schema that it was asked for?",
        evaluation_framework=_FRAMEWORK,
        tasks=list(_tasks(contents)),
    )
    text = content.to_yaml(line_break="\n") + "\n"
    (folder / FILE).write_text(text, encoding="utf-8", newline="\n")
    return FILE

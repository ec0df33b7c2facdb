"""Run lm-evaluation-harness's own jsonschema_bench tasks on a folder of ours.

Run by path, with the Python of an environment that has lm_eval, and with `HF_HOME` in
a folder to spare. The task files are those of the package, copied; only the line
`dataset_path` is another. Two models answer: the harness's own dummy, and one that
answers with the witness that our build has of the schema. Prints one JSON object.

Usage: run_lm_eval.py FOLDER SCRATCH
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import datasets
import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

TASKS = {
    "jsonschema_bench_easy": "Github_easy",
    "jsonschema_bench_medium": "Github_medium",
    "jsonschema_bench_hard": "Github_hard",
}
# The task's template stands in single quotes: its line ends are a backslash and an n.
_PROMPT = re.compile(r"JSON schema: (.*?)\\n\\nJSON object: \Z", re.DOTALL)
_SHOT = "JSON schema: "


def copied(folder: Path, scratch: Path) -> tuple[Path, list[str]]:
    """Copy the tasks, lead them to our folder; return where, and the lines changed."""
    shipped = Path(lm_eval.__file__).parent / "tasks" / "jsonschema_bench"
    tasks = scratch / "tasks"
    shutil.copytree(shipped, tasks, ignore=shutil.ignore_patterns("__pycache__"))
    changed = []
    for path in sorted(tasks.glob("*.yaml")):
        lines = path.read_text().splitlines(keepends=True)
        for number, line in enumerate(lines):
            if line.startswith("dataset_path:"):
                changed.append(line.strip())
                lines[number] = f"dataset_path: {folder}\n"
        path.write_text("".join(lines))
    return tasks, changed


class Witnesses(LM):  # type: ignore[misc] # lm_eval ships no types
    """A model that knows an instance of every schema of ours."""

    def __init__(self, folder: Path) -> None:
        """Read the schemas and their minimal instances."""
        super().__init__()
        self.known: dict[str, str] = {}
        self.asked = 0
        self.unknown = 0
        for config in TASKS.values():
            rows = datasets.load_dataset(str(folder), config, split="test")
            files = {"test": f"{folder}/instances/{config}/test-*.parquet"}
            made = datasets.load_dataset("parquet", data_files=files, split="test")
            minimal = {
                each["unique_id"]: each["text"] for each in made if each["number"] == 0
            }
            for row in rows:
                if row["unique_id"] in minimal:
                    self.known[row["json_schema"]] = minimal[row["unique_id"]]

    def generate_until(self, requests: list[Any], **_: object) -> list[str]:
        """Answer with the witness of the last schema of each prompt."""
        answers = []
        for each in requests:
            prompt = each.arguments[0]
            found = _PROMPT.search(prompt, prompt.rindex(_SHOT))
            schema = found[1] if found else ""
            self.asked += 1
            self.unknown += schema not in self.known
            answers.append(self.known.get(schema, "{}"))
        return answers

    def loglikelihood(self, requests: list[Any], **_: object) -> list[Any]:
        """Refuse: these tasks generate."""
        what = "these tasks generate: no log-likelihood is asked of this model"
        raise NotImplementedError(what)

    loglikelihood_rolling = loglikelihood


def figures(model: object, tasks: Path) -> dict[str, Any]:
    """Return rows and metrics of each task with a model."""
    found = lm_eval.simple_evaluate(
        model=model,
        tasks=list(TASKS),
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
    )
    return {
        task: {
            "rows": found["n-samples"][task]["effective"],
            "json_validity": found["results"][task]["json_validity,none"],
            "schema_compliance": found["results"][task]["schema_compliance,none"],
            "dataset_path": found["configs"][task]["dataset_path"],
        }
        for task in TASKS
    }


def main() -> None:
    """Run both models and print."""
    folder, scratch = Path(sys.argv[1]), Path(sys.argv[2])
    tasks, changed = copied(folder, scratch)
    witnesses = Witnesses(folder)
    report = {
        "lm_eval": metadata.version("lm_eval"),
        "datasets": metadata.version("datasets"),
        "changed": changed,
        "dummy": figures("dummy", tasks),
        "witnesses": figures(witnesses, tasks),
        "prompts_without_a_witness": witnesses.unknown,
        "prompts": witnesses.asked,
    }
    print(json.dumps(report, indent=2))  # noqa: T201 - the answer to the test


if __name__ == "__main__":
    main()

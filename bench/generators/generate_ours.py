"""Our generator as a process: `bench.generators.value_stream`, not judged."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bench.generators.generating import Task, serve
from bench.generators.value_stream import stream
from curation.instances.constraints.compiled_schema import CompiledSchema

if TYPE_CHECKING:
    from collections.abc import Callable


def fill(task: Task, add: Callable[[Any], None]) -> None:
    """Hand over the values of a schema."""
    for value in stream(CompiledSchema.from_json(task["schema"], task["dialect"])):
        add(value)


if __name__ == "__main__":
    serve(version("csbdata"), fill)

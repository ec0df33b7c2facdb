"""hypothesis-jsonschema as a process, as a test with `@given` would use it.

Hypothesis generates and does nothing else: no shrinking, no database, no health
checks, no limit of examples but the time.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_jsonschema import from_schema

from bench.generators.generating import Task, serve

if TYPE_CHECKING:
    from collections.abc import Callable

_MANY = 10**6


def fill(task: Task, add: Callable[[Any], None]) -> None:
    """Hand over the values of a schema."""

    @settings(
        max_examples=_MANY,
        phases=(Phase.generate,),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(from_schema(task["schema"]))
    def draw(value: Any) -> None:  # noqa: ANN401 (any JSON)
        add(value)

    draw()


if __name__ == "__main__":
    both = f"{version('hypothesis-jsonschema')} (hypothesis {version('hypothesis')})"
    serve(both, fill)

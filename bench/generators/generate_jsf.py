"""jsf as a process: the schema parsed once, then `generate` over and over."""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from faker import Faker
from jsf import JSF

from bench.generators.generating import FAILURES, Task, serve

if TYPE_CHECKING:
    from collections.abc import Callable


def fill(task: Task, add: Callable[[Any], None]) -> None:
    """Hand over the values of a schema.

    Raises:
        Exception: jsf cannot parse the schema, or fails many times in a row.
    """
    random.seed(0)
    Faker.seed(0)
    parsed = JSF(task["schema"])
    failures = 0
    while True:
        try:
            value = parsed.generate()
        except Exception:
            failures += 1
            if failures == FAILURES:
                raise
        else:
            failures = 0
            add(value)


if __name__ == "__main__":
    serve(version("jsf"), fill)

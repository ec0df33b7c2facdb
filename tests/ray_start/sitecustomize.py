"""Read by each Python that Ray starts on the nodes of the tests.

`import ray` imports jsonschema, which builds a grammar of IRIs for two seconds of the
processor. Several of them at once are too slow for Ray on a busy machine.
"""

from __future__ import annotations

from curation.system.slow_formats import formats_when_needed

with formats_when_needed():
    import jsonschema  # noqa: F401 - for Ray, which finds it imported

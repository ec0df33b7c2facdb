"""Read by each Python that Ray starts on a node of ours.

`import ray` imports jsonschema, which builds a grammar of IRIs for two seconds of the
processor. A raylet ends where its agents take more than some ten seconds to start, as
several such imports at once do on a busy machine.
"""

from __future__ import annotations

from curation.system.slow_formats import formats_when_needed

with formats_when_needed():
    import jsonschema  # noqa: F401 - for Ray, which finds it imported

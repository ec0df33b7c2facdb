"""Nothing is asked for: the prompt alone."""

from __future__ import annotations

from typing import Final

from evaluation.servers.dialect import ServerDialect

DIALECT: Final = ServerDialect(
    name="none",
    summary="nothing is asked for: the prompt alone",
    body=lambda _schema: {},
    constrains=False,
)

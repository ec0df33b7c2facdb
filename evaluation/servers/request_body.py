"""What a server is asked for, as the body of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.generation.requests import GenerationRequest
    from evaluation.servers.server_dialect import ServerDialect


def request_body(
    dialect: ServerDialect, request: GenerationRequest, schema: str | None
) -> Mapping[str, Json]:
    """Return the members of a request beside `model` and `stream`.

    Args:
        dialect: The way to ask.
        request: What is wanted.
        schema: The schema that is sent; None sends none.
    """
    plain: dict[str, Json] = {
        "messages": [
            {"role": message.role, "content": message.content}
            for message in request.messages
        ],
        dialect.budget: request.budget,
        "temperature": request.temperature,
        "seed": request.seed % 2**31,
        "stream_options": {"include_usage": True},
    }
    return plain if schema is None else {**plain, **dialect.body(schema)}

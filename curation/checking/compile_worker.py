"""The worker process in which `csbdata check` has fastjsonschema compile a schema."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from curation.checking.messages import ACCEPTS, VerdictAnswer, VerdictQuestion
from curation.core.documents import Rejected
from curation.json import text as jsontext
from curation.schema.dialects import BY_NAME
from curation.validation.fastjsonschema_worker import COMPILES, verdict
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from curation.core.json_types import Json


def start(_setup: Json) -> Callable[[Json], VerdictAnswer]:
    """Return the handler of one question."""
    gc.disable()

    def handle(request: Json) -> VerdictAnswer:
        question = msgspec.convert(request, VerdictQuestion)
        schema = jsontext.parse(question.content.encode("latin-1"))
        if isinstance(schema, Rejected):
            return VerdictAnswer(verdict=None)
        if isinstance(schema, dict):
            schema = {**schema, "$schema": BY_NAME[question.dialect].uri}
        answer = verdict(json.dumps(jsontext.plain(schema)))
        gc.collect(0)
        return VerdictAnswer(verdict=ACCEPTS if answer == COMPILES else answer)

    return handle


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode)

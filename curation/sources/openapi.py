"""GitHub's REST interface: the bodies of its requests and answers, out of OpenAPI."""

from __future__ import annotations

from collections.abc import Iterator

from curation.core.benchmark import natural_key
from curation.core.documents import RawDocument, Rejected
from curation.json import text as jsontext
from curation.sources.base import Reading, Source
from curation.sources.openapi_bodies import Description
from curation.sources.readers import document, plain_id
from curation.system.errors import BadData

_NAME = "openapi"
_CONFIG = "OpenAPI"


def read(reading: Reading) -> Iterator[RawDocument]:
    """Yield `<operation>.request` and `<operation>.<status>` for each body in JSON.

    Raises:
        BadData: a file is no OpenAPI description.
    """
    documents: dict[str, RawDocument] = {}
    for path in reading.files.paths:
        if not path.endswith(".json"):
            continue
        parsed = jsontext.parse(reading.files.read(path))
        try:
            description = Description.of(
                None if isinstance(parsed, Rejected) else parsed
            )
        except ValueError as error:
            raise BadData(str(error), path) from error
        for body in description.bodies():
            documents[plain_id(body.name)] = document(
                reading,
                source=_NAME,
                config=_CONFIG,
                unique_id=plain_id(body.name),
                path=f"{path}#{body.name}",
                content=jsontext.write(body.schema).encode(),
            )
    yield from sorted(documents.values(), key=lambda raw: natural_key(raw.unique_id))


SOURCE = Source(
    name=_NAME,
    title="Bodies of GitHub's REST interface (@octokit/openapi)",
    configs=(_CONFIG,),
    archives={"paper": ("octokit-openapi",), "clean": ("octokit-openapi",)},
    read=read,
    extra=True,
)

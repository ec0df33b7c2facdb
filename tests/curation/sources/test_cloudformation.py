"""CloudFormation: ids by type, and references to the document's own schema."""

from __future__ import annotations

from urllib.parse import urljoin

from curation.sources import cloudformation
from tests.curation.sources.given import held, reading

FOLDER = "cfnlint/data/schemas/resources"


def test_a_document_is_named_after_its_type() -> None:
    """A file without a usable `typeName` keeps its own name."""
    files = held(
        **{
            f"{FOLDER}/0a.json": {"typeName": "AWS::EC2::VPC"},
            f"{FOLDER}/0b.json": {"typeName": "../x"},
            f"{FOLDER}/0c.json": b"{",
            f"{FOLDER}/0d.json": [],
            "cfnlint/data/schemas/providers/us-east-1.json": {},
        }
    )
    found = list(cloudformation.read(reading("cfn-lint", files)))
    assert [each.unique_id for each in found] == ["0b", "0c", "0d", "AWS-EC2-VPC"]
    assert {each.config for each in found} == {"CloudFormation"}
    assert cloudformation.SOURCE.extra


def test_a_reference_to_the_resource_schema_is_to_itself() -> None:
    """`resource-schema.json` means the schema in which it stands."""
    path = f"{FOLDER}/0a.json"
    files = held(**{path: {"typeName": "AWS::EC2::VPC"}, f"{FOLDER}/0b.json": {}})
    given = reading("cfn-lint", files)
    (_, found) = cloudformation.read(given)
    target = urljoin(str(found.base_uri), "resource-schema.json")
    assert cloudformation.uris(given)[target] == path

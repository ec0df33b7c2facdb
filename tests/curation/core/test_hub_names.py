"""Names of datasets and models on the Hub."""

from __future__ import annotations

import pytest

from curation.core.hub_names import dataset_name, model_name


@pytest.mark.parametrize("prefix", ["", "hf://datasets/"])
def test_a_dataset_is_an_owner_and_a_name(prefix: str) -> None:
    """With or without a revision, which may hold slashes."""
    assert dataset_name(f"{prefix}a/b") == ("a/b", None)
    assert dataset_name(f"{prefix}a/b.c@refs/pr/1") == ("a/b.c", "refs/pr/1")


@pytest.mark.parametrize("prefix", ["", "hf://", "hf://models/"])
def test_a_model_is_an_owner_and_a_name(prefix: str) -> None:
    """With or without a revision."""
    assert model_name(f"{prefix}a/b@v1") == ("a/b", "v1")


@pytest.mark.parametrize(
    "text", ["", "a", "a/b/c", "a/b@", "/a/b", "s3://a/b", "hf://spaces/a/b", "a b/c"]
)
def test_anything_else_is_no_name(text: str) -> None:
    """A path, another scheme, a sentence."""
    assert dataset_name(text) is None
    assert model_name(text) is None

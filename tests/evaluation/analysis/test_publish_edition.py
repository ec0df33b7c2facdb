"""An edition has a file for each participant."""

from __future__ import annotations

from evaluation.analysis import publish_edition as module


def test_each_participant_has_a_file_of_its_own() -> None:
    """Two that differ in the punctuation of an option, too; a plain name is legible."""
    options = ("x=-1", "x=1", "whitespace=[ ]?", "whitespace=[ ]*")
    labels = ["llguidance 1.9.1 faithful"]
    labels += [f"{labels[0]} {option}" for option in options]
    names = [module._file_name(label) for label in labels]
    assert names[0] == "llguidance-1.9.1-faithful"
    assert len(set(names)) == len(labels)

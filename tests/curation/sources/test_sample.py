"""The registry of sources, and the embedded sample with something for every rule."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars
import pytest

from curation.core.benchmark import CONFIGS, SPLITS
from curation.core.documents import Reason
from curation.dataset.ledger import CHANGES, DOCUMENTS
from curation.pipeline.build import BuildRequest, build
from curation.pipeline.inputs import ExtraSource
from curation.rules.sets import rule_set
from curation.sources import registry
from curation.sources.registry import source_named, sources
from curation.system.errors import BadConfiguration, BadUsage
from curation.system.progress import Quiet
from curation.system.user_files import raw_folder
from tests.distributions import lay_out_distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curation.packaging.manifest import Manifest


THIRD_PARTY = """
from curation.sources.readers import Source

def read(reading):
    return iter(())

SOURCE = Source(
    name={name!r},
    title="Of a third party",
    configs=({config!r},),
    archives={{"clean": ("theirs",)}},
    read=read,
    extra=True,
)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Discover anew, and leave nothing behind for other tests."""
    sources.cache_clear()
    yield
    sources.cache_clear()


def install(folder: Path, module: str, text: str) -> None:
    """Lay out a distribution with a source."""
    lay_out_distribution(folder, module, text, registry.GROUP, module)


def test_the_ten_configs_have_a_source_each() -> None:
    """Those that are not extra fill the ten configs, and nothing else."""
    filled = [
        config
        for source in sources().values()
        if not source.extra
        for config in source.configs
    ]
    assert sorted(filled) == sorted(CONFIGS)
    assert {each.name for each in sources().values() if each.extra} == {
        "corpus",
        "local",
        "tool-schemas",
    }


def test_the_registry_cannot_be_changed() -> None:
    """It is frozen once it is made."""
    with pytest.raises(TypeError):
        sources()["x"] = source_named("github")  # type: ignore[index]  # the claim


def test_a_third_party_adds_a_source_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point in a folder on the path is enough; no other file is edited."""
    text = THIRD_PARTY.format(name="theirs", config="Theirs")
    install(tmp_path, "of_theirs", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert source_named("theirs").configs == ("Theirs",)
    assert "theirs" in sources()


def test_a_config_is_taken_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No second source may fill it."""
    text = THIRD_PARTY.format(name="theirs", config="Kubernetes")
    install(tmp_path, "same_config", text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadConfiguration, match="Kubernetes"):
        sources()


def test_a_misspelt_name_is_wrong_usage() -> None:
    """The source that may be meant is named."""
    with pytest.raises(BadUsage, match="did you mean github"):
        source_named("githb")


GOLDEN = Path(__file__).parents[2] / "golden"
#: What only a hostile document meets: tests/hostile is about these.
LIMITS = {Reason.TOO_LARGE, Reason.TOO_DEEP, Reason.OUT_OF_MEMORY, Reason.CRASHED}
#: What a list of ours takes out, and not the document: tests of the list are about it.
BY_NAME = {Reason.OPTED_OUT}
RULE_SETS = ["clean", pytest.param("paper", marks=pytest.mark.slow)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """One build of the sample, as its ledger tells it."""

    rules: str
    documents: polars.DataFrame
    changes: polars.DataFrame
    #: Every code that a record of the ten configs is flagged with.
    lints: frozenset[str]
    manifest: Manifest

    @property
    def kept(self) -> polars.DataFrame:
        """The documents that became records."""
        return self.documents.filter(polars.col("outcome") == "kept")

    @property
    def rejected(self) -> polars.DataFrame:
        """The documents that did not."""
        return self.documents.filter(polars.col("outcome") != "kept")

    def golden(self) -> str:
        """What is checked in: every record's split and digest, every reject's end."""
        kept = self.kept.select("config", "unique_id", "split", "sha256")
        rejected = self.rejected.select("raw_config", "unique_id", "outcome", "rule")
        lines = [
            f' "{name}": [\n'
            + ",\n".join(f"  {json.dumps(row)}" for row in sorted(rows.rows()))
            + "\n ]"
            for name, rows in (("kept", kept), ("rejected", rejected))
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"


@pytest.fixture(scope="session", params=RULE_SETS)
def edition(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Edition:
    """Build the sample once under each rule set, with the extras that it has."""
    out = tmp_path_factory.mktemp("sample") / request.param
    extras = (ExtraSource(source="corpus"),)
    built = build(
        BuildRequest(out=out, rules=request.param, sample=True, extras=extras, jobs=1),
        Quiet(),
    )
    return Edition(
        rules=request.param,
        documents=polars.read_parquet(out / DOCUMENTS),
        changes=polars.read_parquet(out / CHANGES),
        lints=frozenset(
            polars.read_parquet(out / "*" / "*-00000-of-*.parquet", columns=["lints"])
            .explode("lints")["lints"]
            .drop_nulls()
        ),
        manifest=built.manifest,
    )


def test_every_config_and_split_has_a_record(edition: Edition) -> None:
    """Every one of the ten configs has a record in each of the three splits."""
    found = set(edition.kept.select("config", "split").unique().rows())
    wanted = {(config, split) for config in CONFIGS for split in SPLITS}
    assert wanted - found == set()


def test_every_reason_is_met(edition: Edition) -> None:
    """Every reason that a rule of the set can give is given, those of limits apart."""
    possible = {
        reason for rule in rule_set(edition.rules).all_rules for reason in rule.reasons
    }
    met = set(edition.rejected["outcome"].unique())
    assert possible - LIMITS - met == set()


def test_the_clean_rules_meet_every_reason(edition: Edition) -> None:
    """`clean` and `paper` give every reason there is, limits and requests apart."""
    if edition.rules != "clean":
        pytest.skip("`paper` has fewer reasons")
    met = set(edition.rejected["outcome"].unique())
    own = {each for rule in rule_set("paper").all_rules for each in rule.reasons}
    assert set(Reason) - LIMITS - BY_NAME - own - met == set()


def test_every_rule_does_something(edition: Edition) -> None:
    """Every rule of the set changes, flags or rejects at least one document."""
    acted = {
        *edition.changes["rule"].unique(),
        *edition.rejected["rule"].unique(),
        *(
            rule.name
            for rule in rule_set(edition.rules).rules
            if edition.lints & set(rule.lints)
        ),
    }
    assert {rule.name for rule in rule_set(edition.rules).all_rules} - acted == set()


def test_every_lint_is_met(edition: Edition) -> None:
    """Every lint code that a rule of the set can leave is left on some record."""
    codes = {code for rule in rule_set(edition.rules).rules for code in rule.lints}
    assert codes - edition.lints == set()


def test_golden_results(
    edition: Edition, compare_golden: Callable[[Path, str], None]
) -> None:
    """The sample's records and rejects are those that are checked in."""
    compare_golden(GOLDEN / f"sample-{edition.rules}.json", edition.golden())


def test_partial(edition: Edition) -> None:
    """A build from the sample never passes for the whole benchmark."""
    assert edition.manifest.name == "JSONSchemaBench-partial"


def test_size() -> None:
    """The sample stays small: it is in every clone and in every wheel."""
    files = [each for each in (raw_folder() / "sample").rglob("*") if each.is_file()]
    assert sum(each.stat().st_size for each in files) < 1_500_000

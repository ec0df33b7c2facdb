"""Renew what is known of hosted models from litellm and genai-prices.

Both are fetched by pip and only read. What changed is printed; the files are replaced:
`evaluation/servers/models.toml` (levels of reasoning, forced tools, sampling, end
dates) and the prices in `evaluation/servers/prices.toml`.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

SERVERS = Path(__file__).parents[2] / "evaluation/servers"
_TABLE = "litellm/model_prices_and_context_window_backup.json"
_LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
#: Those that a model has unless the table denies them.
_USUAL = ("low", "medium", "high")
#: Ours to litellm's name of a provider.
_PROVIDERS = {"anthropic": "anthropic", "gemini": "gemini", "openai": "openai"}
#: Gemini's models before the third have budgets of thinking, and no levels.
_BUDGETED = ("gemini-1", "gemini-2")


def add_options(_parser: argparse.ArgumentParser) -> None:
    """Add none."""


def fetch(name: str, folder: Path) -> str:
    """Extract the newest wheel of a package into a folder; return its version."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
    subprocess.run([*command, "--dest", str(folder), name], check=True)
    (wheel,) = folder.glob(f"{name.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(folder)
    return wheel.name.split("-")[1]


def collect_facts(name: str, provider: str, about: dict[str, Any]) -> dict[str, Any]:
    """Return what a model cannot do, and when it ends."""
    facts: dict[str, Any] = {}
    levels = [
        level
        for level in _LEVELS
        if about.get(f"supports_{level}_reasoning_effort", level in _USUAL)
    ]
    thinks = bool(about.get("supports_reasoning"))
    if provider == "anthropic":
        thinks = bool(about.get("supports_adaptive_thinking"))
    if provider == "gemini":
        thinks &= not name.startswith(_BUDGETED)
    if not thinks:
        facts["efforts"] = []
    elif provider != "gemini":
        facts["efforts"] = levels
    if about.get("supports_forced_tool_use") is False:
        facts["forced_tool"] = False
    if about.get("supports_sampling_params") is False:
        facts["sampling"] = False
    if end := about.get("deprecation_date"):
        facts["end"] = end
    return facts


def read_models(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the facts of all chat models in litellm's table, by provider."""
    models: dict[str, dict[str, Any]] = {name: {} for name in _PROVIDERS}
    for name, about in json.loads((folder / _TABLE).read_text("utf-8")).items():
        for provider, theirs in _PROVIDERS.items():
            known = about.get("litellm_provider") == theirs
            if known and about.get("mode") in {"chat", "responses"}:
                short = name.removeprefix(f"{theirs}/")
                facts = collect_facts(short, provider, about)
                if facts and "/" not in short and not short.startswith("ft:"):
                    models[provider][short] = facts
    return models


def read_prices(folder: Path) -> dict[str, tuple[float, float]]:
    """Return the prices of a million tokens of short prompts, by genai-prices."""
    sys.path.insert(0, str(folder))
    prices = {}
    for provider in import_module("genai_prices.data").providers:
        known = provider.id in {*_PROVIDERS, "google"}
        for model in provider.models if known else ():
            price = model.prices
            price = price[-1].prices if isinstance(price, list) else price
            pair = (price.input_mtok, price.output_mtok)
            figures = [getattr(it, "base", it) for it in pair if it is not None]
            if len(figures) == len(pair):
                prices[model.id] = (float(figures[0]), float(figures[1]))
    return prices


def models_text(models: dict[str, dict[str, Any]], version: str, day: str) -> str:
    """Return `models.toml`."""
    lines = [
        "# What hosted models cannot do, and when they are shut down; made by",
        "# `python -m bench providers`. What is not here is found out by asking.",
        f'date = "{day}"',
        f'source = "litellm {version} (PyPI), {_TABLE}"',
    ]
    for provider, facts in models.items():
        lines += ["", f"[models.{provider}]"]
        for name in sorted(facts):
            members = ", ".join(
                f"{key} = {json.dumps(value)}" for key, value in facts[name].items()
            )
            lines.append(f'"{name}" = {{ {members} }}')
    return "\n".join([*lines, ""])


def prices_text(text: str, prices: dict[str, tuple[float, float]], version: str) -> str:
    """Return `prices.toml` with the prices of its models renewed."""
    lines = []
    for line in text.splitlines():
        name, equals, _ = line.partition(" = ")
        key = name.strip('"')
        if equals and name.startswith('"') and key in prices:
            lines.append(f"{name} = [{prices[key][0]:g}, {prices[key][1]:g}]")
        elif name == "source":
            source = f"genai-prices {version} (PyPI); the tier of short prompts"
            lines.append(f'source = "{source}"')
        else:
            lines.append(line)
    return "\n".join([*lines, ""])


def measure(_options: argparse.Namespace) -> dict[str, Any]:
    """Renew the files; return what changed."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    changed: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        litellm, genai = (fetch(it, folder) for it in ("litellm", "genai-prices"))
        models, prices = read_models(folder), read_prices(folder)
    file = SERVERS / "models.toml"
    before = tomllib.loads(file.read_text("utf-8"))["models"] if file.exists() else {}
    for provider, facts in models.items():
        old = before.get(provider, {})
        for model in sorted({*old, *facts}):
            if old.get(model) != facts.get(model):
                changed[f"{provider}:{model}"] = [old.get(model), facts.get(model)]
    file.write_text(models_text(models, litellm, day), "utf-8")
    file = SERVERS / "prices.toml"
    text = file.read_text("utf-8")
    new = prices_text(text, prices, genai)
    pairs = zip(text.splitlines(), new.splitlines(), strict=True)
    changed["prices"] = [after for ahead, after in pairs if ahead != after]
    file.write_text(new, "utf-8")
    return changed

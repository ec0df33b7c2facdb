"""Describe a run in a few lines: data, engines, model, limits, gaps.

The same lines are printed before a run starts and above its tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from curation.system.words import counted
from evaluation.core.run_header import ModelHeader, RunHeader

#: Before a line that is to be copied as it is.
INDENT = "  "


def describe(header: RunHeader) -> list[str]:
    """Describe a run's measurements, line by line; lines to copy are indented."""
    engines = ", ".join(
        engine.engine for engine in header.engines if not engine.unavailable
    )
    lines = [
        *not_run(header),
        *_model(header.models),
        *_data(header),
        f"tasks: {', '.join(header.tasks)}",
        f"engines: {engines or 'none can be run here'}",
    ]
    if header.tokenizer.name:
        lines.append(f"tokenizer: {header.tokenizer.name}")
    limits = header.limits
    if limits.compile_seconds is not None and limits.run_seconds is not None:
        lines.append(
            f"time limits: {limits.compile_seconds:g} s to compile, "
            f"{limits.run_seconds:g} s to test each schema"
        )
    if header.started and header.csbdata:
        lines.append(f"made: {header.started} by csbdata {header.csbdata}")
    return lines


def not_run(header: RunHeader) -> list[str]:
    """Return which engines could not be run and what to do, line by line."""
    lines = []
    for participant in header.engines:
        if participant.unavailable:
            lines.append(f"not run: {participant.engine}: {participant.unavailable}")
            if participant.install:
                lines.append(f"{INDENT}{participant.install}")
    return lines


def partial_data(header: RunHeader) -> list[str]:
    """Return why the figures of a run are not the benchmark's, line by line.

    Empty for published data, or your own.
    """
    return [f"partial data: {line}" for line in header.data.partial]


def _data(header: RunHeader) -> Iterator[str]:
    data = header.data
    if data.name is None:
        return
    parts = [data.name]
    if data.schemas is not None:
        parts.append(counted(data.schemas, "schema"))
    if data.records is not None:
        parts.append(counted(data.records, "record"))
    selection = [*data.configs, *data.splits]
    parts += [f"only {', '.join(selection)}"] if selection else []
    parts += [f"instances {data.instances}"] if data.instances else []
    parts += [f"{data.left_out:,} left out"] if data.left_out else []
    parts += [f"{data.vacuous:,} vacuous left out"] if data.vacuous else []
    parts += [f"{data.invalid:,} of them invalid"] if data.invalid else []
    yield f"data: {', '.join(parts)}"
    yield from partial_data(header)


def _model(model: ModelHeader) -> Iterator[str]:
    if model.model is None:
        return
    named = [model.model]
    named += [f"revision {model.revision[:12]}"] if model.revision else []
    named += [model.dtype] if model.dtype else []
    if model.device_name:
        driver = model.driver or "unknown"
        named.append(
            f"on {model.device} ({model.device_name}, driver {driver}, "
            f"CUDA {model.cuda})"
        )
    elif model.device:
        named.append(f"on {model.device}")
        named += [f"{model.threads} threads"] if model.threads else []
    yield f"model: {', '.join(named)}"
    if model.limits:
        yield f"its cache: {model.limits}"
    if model.libraries:
        versions = (f"{name} {version}" for name, version in model.libraries.items())
        yield f"libraries: {', '.join(versions)}"
    budget = "by witnesses" if model.budget is None else counted(model.budget, "token")
    greedy = not model.temperature
    options = [
        f"prompt {model.prompt} with {counted(len(model.shots), 'shot')}",
        f"budget {budget}",
        "greedy" if greedy else f"temperature {model.temperature:g}, seed {model.seed}",
    ]
    options += [f"{model.samples} for each schema"] if model.samples > 1 else []
    options += [f"batch {model.batch}"] if model.batch > 1 else []
    options += [f"as {model.compat}"] if model.compat else []
    options += [f"dated {model.template_date}"] if model.template_date else []
    yield f"texts: {', '.join(options)}"
    if model.clock:
        yield f"clock: {model.clock}"
    if model.warm_up:
        yield f"warm-up (not measured): {model.warm_up}"
    if model.gpu_settings:
        settings = (f"{name} {figure}" for name, figure in model.gpu_settings.items())
        yield f"GPU: {', '.join(settings)}"

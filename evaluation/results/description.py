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
    selection = ", ".join((*data.configs, *data.splits))
    parts += _present(
        (selection, f"only {selection}"),
        (data.instances, f"instances {data.instances}"),
        (data.left_out, f"{data.left_out:,} left out"),
        (data.vacuous, f"{data.vacuous:,} vacuous left out"),
        (data.invalid, f"{data.invalid:,} of them invalid"),
    )
    yield f"data: {', '.join(parts)}"
    yield from partial_data(header)


def _model(model: ModelHeader) -> Iterator[str]:
    if model.model is None:
        return
    device = f"on {model.device}"
    if model.device_name:
        driver = model.driver or "unknown"
        device += f" ({model.device_name}, driver {driver}, CUDA {model.cuda})"
    elif model.threads:
        device += f", {model.threads} threads"
    named = [
        model.model,
        *_present(
            (model.revision, f"revision {model.revision:.12}"),
            (model.dtype, model.dtype),
            (model.device or model.device_name, device),
        ),
    ]
    budget = "by witnesses" if model.budget is None else counted(model.budget, "token")
    drawn = f"temperature {model.temperature:g}, seed {model.seed}"
    options = [
        f"prompt {model.prompt} with {counted(len(model.shots), 'shot')}",
        f"budget {budget}",
        drawn if model.temperature else "greedy",
        *_present(
            (model.samples > 1, f"{model.samples} for each schema"),
            (model.batch > 1, f"batch {model.batch}"),
            (model.compat, f"as {model.compat}"),
            (model.template_date, f"dated {model.template_date}"),
        ),
    ]
    libraries = (f"{name} {version}" for name, version in model.libraries.items())
    settings = (f"{name} {figure}" for name, figure in model.gpu_settings.items())
    yield f"model: {', '.join(named)}"
    yield from _present(
        (model.limits, f"its cache: {model.limits}"),
        (model.libraries, f"libraries: {', '.join(libraries)}"),
        (options, f"texts: {', '.join(options)}"),
        (model.clock, f"clock: {model.clock}"),
        (model.warm_up, f"warm-up (not measured): {model.warm_up}"),
        (model.gpu_settings, f"GPU: {', '.join(settings)}"),
    )


def _present(*parts: tuple[object, str]) -> list[str]:
    """Return the texts whose fact is there."""
    return [text for fact, text in parts if fact]

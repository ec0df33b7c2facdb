"""`csbdata demo`: two engines on the embedded sample."""

from __future__ import annotations

from typing import Final

from curation.system.progress import Shown
from curation.system.terminal import say_command
from curation.system.words import command
from evaluation.commands.options import RunFolderOption  # noqa: TC001 - typer reads it
from evaluation.commands.show_run import print_run
from evaluation.reporting.printing import ReportFormat

#: Number of measured schemas: enough to separate the engines in a few seconds.
_SCHEMAS: Final = 12


def demo(run_dir: RunFolderOption = None) -> None:
    """Measure two engines on a part of the embedded sample.

    Example: csbdata demo

    It takes less than a minute, and neither network, model nor compiler: tokens are
    single bytes. The engines are llguidance and none, which constrains nothing.
    """
    from curation.download.cache import FetchSettings
    from curation.pipeline.build import BuildRequest, build
    from curation.pipeline.inputs import ExtraSource
    from evaluation.runner.request import RunRequest
    from evaluation.runner.run import run

    fetch = FetchSettings.from_environment()
    sample = BuildRequest(
        out=fetch.cache / "sample" / "demo",
        sample=True,
        only=(ExtraSource(source="snowplow"),),
        instances=True,
        fetch=fetch,
    )
    build(sample, Shown())
    request = RunRequest(
        engines=("llguidance", "none"),
        tasks=("masks",),
        data=str(sample.out),
        limit=_SCHEMAS,
        tokenizer="bytes",
        run_dir=run_dir,
        fetch=fetch,
    )
    measured = run(request, Shown()).open()
    again = command("results", "show", measured.folder)
    print_run(measured, again, ReportFormat.AUTO)
    say_command("The same of your own schemas", "csbdata eval --data FOLDER")

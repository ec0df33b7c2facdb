"""The order of words of `csbdata suite`: the verb, then the suite."""

from __future__ import annotations

import shlex
from typing import Any

from curation.commands.options import CommandGroup
from curation.system.errors import BadUsage
from curation.system.terminal import command_line


class SuiteGroup(CommandGroup):
    """The verbs; a suite's name in their place is answered with the right order."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own
        """Return a verb's command; None if there is none.

        Raises:
            BadUsage: it is the name of a suite.
        """
        command = super().get_command(ctx, cmd_name)
        if command is None:
            from evaluation.suites.registry import is_path, suites

            name = cmd_name.removesuffix("@paper")
            if is_path(name) or name in suites():
                words = [*command_line()] or ["csbdata", "suite", cmd_name]
                at = words.index(cmd_name)
                verb = (
                    words.pop(at + 1)
                    if {*words[at + 1 : at + 2]} & {*self.commands}
                    else "run"
                )
                words.insert(at, verb)
                raise BadUsage(
                    f"the verb comes first, then the suite {cmd_name}",
                    then=shlex.join(words),
                )
        return command

"""Run the site's scripts under Node, as a browser would without a page."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from evaluation.site import __file__ as site_file

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

NODE: Final = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
_STATIC: Final = Path(site_file).parent / "static"
_PROGRAM: Final = """
const fs = require("fs"), vm = require("vm");
for (const path of JSON.parse(process.argv[1])) {
  vm.runInThisContext(fs.readFileSync(path, "utf8"), path);
}
const input = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(vm.runInThisContext(process.argv[2])(input)));
"""


def answers(scripts: str, function: str, value: UntypedJson) -> Any:  # noqa: ANN401 - any JSON
    """Return what a function in JavaScript makes of a value.

    Args:
        scripts: Names in `static/` without ending, blanks between.
        function: An expression, with the scripts loaded.
        value: Its argument.
    """
    paths = [str(_STATIC / f"{name}.js") for name in scripts.split()]
    done = subprocess.run(
        [str(NODE), "-e", _PROGRAM, json.dumps(paths), function],
        input=json.dumps(value),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

"""Pushes a small folder by the command line; run as a script.

    python push_once.py ARGUMENTS...

The folder counts as verified, and other packages' commands are not looked for: both
are tested elsewhere, and take time.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

from curation import cli


def main() -> None:
    """Run `csbdata` with what was given."""
    verification = ModuleType("curation.verification")
    verification.__dict__["Verification"] = SimpleNamespace
    verification.__dict__["verify_folder"] = lambda *_, **__: SimpleNamespace(
        failures=()
    )
    registry = ModuleType("curation.verification.registry")
    registry.__dict__["select_checks"] = None
    for module in (verification, registry):
        sys.modules[module.__name__] = module
    with patch.object(cli, "_attach_plugins", lambda: None):
        cli.main()


if __name__ == "__main__":
    main()

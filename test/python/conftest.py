"""Kernels for the tests: the installed one, and the echo kernel of test/jupyter from its source."""

import json
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOADER = (ROOT / "node_modules" / "tsx" / "dist" / "loader.mjs").as_uri()
ECHO_KERNEL = ROOT / "test" / "jupyter" / "echo-kernel.ts"


def pytest_configure(config):
    """Puts the echo kernel on Jupyter's path and gives all kernels a data directory of their own."""
    directory = tempfile.TemporaryDirectory(prefix="apl-kernel-")
    config.add_cleanup(directory.cleanup)
    spec = Path(directory.name) / "kernels" / "echo"
    spec.mkdir(parents=True)
    argv = ["node", "--import", LOADER, str(ECHO_KERNEL), "{connection_file}"]
    kernel = {"argv": argv, "display_name": "Echo", "language": "echo", "interrupt_mode": "message"}
    (spec / "kernel.json").write_text(json.dumps(kernel))
    os.environ["JUPYTER_PATH"] = os.pathsep.join(
        filter(None, [directory.name, os.environ.get("JUPYTER_PATH")])
    )
    os.environ["APL_KERNEL_DATA"] = str(Path(directory.name) / "data")

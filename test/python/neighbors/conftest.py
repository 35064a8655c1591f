"""Runs the programs of this environment in a home of their own that has a notebook."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

BIN = Path(sys.executable).parent
QUERY = "['sample-http-logs']\n| summarize requests = count() by method\n| sort by method asc"


class Place:
    """A folder with a notebook, and the environment of the programs that run in it."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {
            "HOME": str(folder / "home"),
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "APL_KERNEL_DATA": str(folder / "data"),
            "LANG": "C.UTF-8",
        }
        (folder / "home").mkdir()

    def run(self, *command):
        """Returns the standard output of a program, which must succeed."""
        done = subprocess.run(
            list(map(str, command)), cwd=self.folder, env=self.env, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def write(self, name, *cells, **metadata):
        code = [nbformat.v4.new_code_cell(source) for source in cells]
        for number, cell in enumerate(code):
            cell["id"] = f"cell-{number}"
        spec = {"name": "apl", "display_name": "APL (Axiom)", "language": "axiom-apl"}
        notebook = nbformat.v4.new_notebook(cells=code, metadata={"kernelspec": spec, **metadata})
        nbformat.write(notebook, self.folder / name)
        return notebook


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("neighbors"))
    place.write("a.ipynb", "%time last 1d\n%use local", QUERY, "print answer = 6 * 7")
    yield place
    place.run(BIN / "apl-kernel", "serve", "--stop")

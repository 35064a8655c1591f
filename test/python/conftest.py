"""Kernels for the tests: the installed one, and the echo kernel of test/jupyter built from source. Also wheels and environments."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADER = (ROOT / "node_modules" / "tsx" / "dist" / "loader.mjs").as_uri()
ECHO_KERNEL = ROOT / "test" / "jupyter" / "echo-kernel.ts"


def pytest_configure(config):
    """Puts the echo kernel on Jupyter's path and gives all kernels their own data directory."""
    directory = tempfile.TemporaryDirectory(prefix="apl-kernel-")
    config.add_cleanup(directory.cleanup)
    spec = Path(directory.name) / "kernels" / "echo"
    spec.mkdir(parents=True)
    argv = ["node", str(built_echo_kernel(config)), "{connection_file}"]
    kernel = {"argv": argv, "display_name": "Echo", "language": "echo", "interrupt_mode": "message"}
    (spec / "kernel.json").write_text(json.dumps(kernel))
    os.environ["JUPYTER_PATH"] = os.pathsep.join(
        filter(None, [directory.name, os.environ.get("JUPYTER_PATH")])
    )
    os.environ["APL_KERNEL_DATA"] = str(Path(directory.name) / "data")


def built_echo_kernel(config):
    """Builds the echo kernel as JavaScript, which starts several times faster; inside the project, to resolve its packages."""
    parent = ROOT / "test-output"
    parent.mkdir(exist_ok=True)
    directory = tempfile.TemporaryDirectory(prefix="echo-kernel-", dir=parent)
    config.add_cleanup(directory.cleanup)
    program = Path(directory.name) / "echo-kernel.mjs"
    esbuild = ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
    options = ["--bundle", "--platform=node", "--format=esm", "--packages=external", "--log-level=warning"]
    subprocess.run(["node", esbuild, ECHO_KERNEL, *options, f"--outfile={program}"], check=True)
    return program


def built_wheels(directory):
    subprocess.run(["node", "--import", "tsx", "scripts/wheel.mjs", "--to", directory], cwd=ROOT, check=True)
    return sorted(directory.glob("*.whl"))


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    return built_wheels(tmp_path_factory.mktemp("wheels"))


class Environment:
    """A virtual environment that also sees the tests' packages, with its own home, in a directory."""

    def __init__(self, directory, python=sys.executable):
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir()
        self.venv = directory / "env"
        subprocess.run([python, "-m", "venv", "--without-pip", self.venv], check=True)
        self.python = self.venv / "bin" / "python"
        packages = next(self.venv.glob("lib/python3*/site-packages"))
        (packages / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        inherited = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
        self.env = {
            **inherited,
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(self.venv / "bin"), str(Path(shutil.which("node")).parent)]),
        }

    def run(self, *command, **env):
        done = subprocess.run(
            list(map(str, command)), env={**self.env, **env}, cwd=self.directory, capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    def must(self, *command):
        code, _, error = self.run(*command)
        assert code == 0, error

    def pip(self, *args):
        self.must(self.python, "-m", "pip", "--no-cache-dir", *args)

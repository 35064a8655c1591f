#!/usr/bin/env bash
# try.sh WHEELS: follows the Dockerfile and compose.yaml without Docker, in a separate Debian root without a network: installs,
# makes the root read-only, and runs each service as its user. Needs root, debootstrap and Python 3.11 wheels from the package index.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wheels=$(cd "$1" && pwd)
root=${APL_ROOT:-$(mktemp -d /var/tmp/apl-root-XXXXXX)}

# Contents of the base image: Python with JupyterLab, a user, and a program that starts it. nginx is the proxy's image.
[[ -e $root/usr ]] || debootstrap --variant=minbase --include=python3,python3-venv,nginx-light,openssl bookworm "$root" >/dev/null
mkdir -p "$root"/opt/wheels "$root"/opt/container "$root"/home/jovyan "$root"/data
python3 -m pip download -q -d "$root/opt/wheels" --python-version 3.11 --only-binary=:all: \
  "jupyterlab==4.6.6" "$wheels"/apl_kernel-*.whl
cp "$here"/* "$root/opt/container"
chroot "$root" python3 -m venv /opt/conda
export PATH=/opt/conda/bin:/usr/sbin:/usr/bin:/sbin:/bin
chroot "$root" env PIP_NO_INDEX=1 python -m pip install -q --find-links /opt/wheels jupyterlab
printf '#!/bin/sh\nexec jupyter lab --no-browser --ip=0.0.0.0 "$@"\n' >"$root/opt/conda/bin/start-notebook.py"
chmod 755 "$root/opt/conda/bin/start-notebook.py"

# The Dockerfile.
chroot "$root" env PIP_NO_INDEX=1 bash /opt/container/install.sh /opt/wheels
chown 1000:100 "$root/data"

# Additional requirements of `docker compose up`.
mkdir -p "$root/etc/nginx/tls"
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$root/etc/nginx/tls/server.key" -out "$root/etc/nginx/tls/server.crt" 2>/dev/null
chown -R 1000:100 "$root/etc/nginx/tls"
cp "$here/nginx.conf" "$root/etc/nginx/nginx.conf"

export root
unshare --mount --net --pid --fork --kill-child bash -euo pipefail -c '
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t tmpfs -o uid=1000,gid=100,mode=0700 tmpfs "$root/home/jovyan"
  mount -t tmpfs -o uid=1000,gid=100 tmpfs "$root/data"
  mount --bind /dev "$root/dev"
  exec chroot "$root" python /opt/container/try.py'
[[ -n ${APL_ROOT:-} ]] || rm -rf "$root"

"""Runs each service of compose.yaml as its user, with its health check, and sends requests with and without the token."""

import fcntl
import json
import os
import socket
import ssl
import struct
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import yaml

TOKEN = 'xaat-a-secret-of-the-team-0123456789'
HOME = Path('/home/jovyan')
ENV = {'HOME': str(HOME), 'PATH': os.environ['PATH'], 'APL_KERNEL_DATA': '/data', 'LANG': 'C.UTF-8'}
USER = ('setpriv', '--reuid=1000', '--regid=100', '--clear-groups', '--no-new-privs', '--bounding-set=-all')
TLS = '/etc/nginx/tls/server.crt'
SERVICES = yaml.safe_load(Path('/opt/container/compose.yaml').read_text())['services']

CELL = """
import nbclient, nbformat
cells = [nbformat.v4.new_code_cell("['sample-http-logs'] | summarize count() by bin_auto(_time)")]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, kernel_name='apl').execute()
assert 'image/svg+xml' in str(notebook.cells[0].outputs)
"""


def loopback_up():
    with socket.socket() as any_socket:
        flags = struct.unpack_from('16sh', fcntl.ioctl(any_socket, 0x8913, struct.pack('16sh14x', b'lo', 0)))[1]
        fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh14x', b'lo', flags | 1))


def started(name):
    """A service of the file, once its health check passes."""
    service = SERVICES[name]
    assert service['read_only'] and service['cap_drop'] == ['ALL']
    given = {key: TOKEN for key in service['environment']}
    for volume in service['volumes']:
        folder = Path(volume.partition(':')[2])
        folder.mkdir(exist_ok=True)
        os.chown(folder, 1000, 100)
    process = subprocess.Popen([*USER, *service['command']], env=ENV | given, cwd=HOME)
    check = service['healthcheck']['test'][1:]
    while subprocess.run([*USER, *check], env=ENV, stderr=subprocess.DEVNULL).returncode != 0:
        assert process.poll() is None, f'{name} ended'
        time.sleep(0.5)
    print(f'{name}: its health check passes', flush=True)
    return process


def status(url, token=None, data=None):
    """The status of an answer, and its text."""
    headers = {'content-type': 'application/json'} | ({'authorization': token} if token else {})
    body = None if data is None else json.dumps(data).encode()
    try:
        context = ssl.create_default_context(cafile=TLS) if url.startswith('https') else None
        request = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(request, context=context, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ''


def expect(what, found, wanted):
    assert found == wanted, f'{what}: {found}, not {wanted}'
    print(f'{what}: {found}', flush=True)


def run(*command, **env):
    done = subprocess.run([*USER, *command], env=ENV | env, cwd=HOME, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def try_lab():
    lab = started('lab')
    specs = 'http://127.0.0.1:8888/api/kernelspecs'
    expect('lab without a token', status(specs)[0], 403)
    code, text = status(specs, f'token {TOKEN}')
    expect('lab with the token', (code, 'apl' in json.loads(text)['kernelspecs']), (200, True))
    run('python', '-c', CELL)
    print('lab: a cell has its chart')
    lab.terminate()
    lab.wait()
    run('apl-kernel', 'serve', '--stop')


def try_service():
    service = started('service')
    proxy = subprocess.Popen([*USER, 'nginx', '-g', 'daemon off;'], env=ENV)
    base = 'https://127.0.0.1:8443'
    while True:
        try:
            expect('service without a token', status(f'{base}/v1/datasets')[0], 401)
            break
        except urllib.error.URLError:
            time.sleep(0.2)
    expect('service with another token', status(f'{base}/v1/datasets', 'Bearer xaat-another')[0], 401)
    bearer = f'Bearer {TOKEN}'
    expect('service with the token', status(f'{base}/v1/datasets', bearer)[0], 200)
    expect('a dataset', status(f'{base}/v2/datasets', bearer, {'name': 'app'})[0], 200)
    expect('events', status(f'{base}/v1/ingest/app', bearer, [{'a': 1}, {'a': 2}])[0], 200)
    for path in ('/v1/local/import', '/api/v1/local/import', '/x/../v1/local/preview', '//v1/local/publish',
                 '/%61pi/v1%2flocal/results', '/v1/local'):
        expect(path, status(base + path, bearer, {'path': '/etc/passwd', 'dataset': 'x'})[0], 403)
    profile = f'[deployments.team]\nurl = "{base}"\ntoken = "{TOKEN}"\norg_id = ""\n'
    (HOME / '.axiom.toml').write_text(profile)
    os.chmod(HOME / '.axiom.toml', 0o600)
    os.chown(HOME / '.axiom.toml', 1000, 100)
    (HOME / 'q.apl').write_text('app | summarize total = sum(a)')
    run('mkdir', '-p', '/tmp/other')
    text = run(
        'apl-kernel', 'run', 'q.apl', '--print', '--profile', 'team',
        NODE_EXTRA_CA_CERTS=TLS, APL_KERNEL_DATA='/tmp/other',
    )
    expect('a kernel elsewhere counts', '3' in text.split(), True)
    (HOME / 'more.csv').write_text('a\n7\n')
    run('apl-kernel', 'import', 'more.csv', '--dataset', 'more')
    expect('a file is imported beside it', 'more' in status(f'{base}/v1/datasets', bearer)[1], True)
    for process in (proxy, service):
        process.terminate()
        process.wait()


loopback_up()
try_lab()
try_service()
print('All of compose.yaml was tried')

"""The kernel on its own terminal, as `jupyter console` starts it."""

import fcntl
import os
import pty
import struct
import termios

import pytest
from jupyter_client.manager import KernelManager

QUERY = "%%time 2026-01-26\n['sample-http-logs'] | take 1"


@pytest.fixture
def console():
    """Yields a client of a kernel whose standard output is a terminal, and a function that sets the terminal's width."""
    controller, terminal = pty.openpty()

    def resize(columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    manager = KernelManager(kernel_name="apl")
    manager.start_kernel(stdout=terminal)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield client, resize
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    os.close(terminal)
    os.close(controller)


def table_width(client, **options):
    """Runs a query of wide events; returns the length of the rule below the header of its table."""
    rules = []

    def collect(message):
        text = message["content"].get("data", {}).get("text/plain", "")
        rules.extend(line for line in text.split("\n") if line.startswith("──"))

    client.execute_interactive(QUERY, timeout=60, output_hook=collect, **options)
    return len(rules[-1])


def test_a_table_fits_the_current_width_of_the_terminal(console):
    client, resize = console
    resize(60)
    assert 40 < table_width(client) <= 60
    resize(100)
    assert 60 < table_width(client) <= 100


def test_a_table_ignores_the_terminal_width_without_stdin(console):
    client, resize = console
    resize(60)
    narrow = table_width(client, allow_stdin=False)
    resize(200)
    assert 100 < narrow == table_width(client, allow_stdin=False) <= 160


def test_exit_ends_the_console(console):
    client, resize = console
    resize(80)
    assert client.execute_interactive("exit", timeout=60)["content"]["payload"] == [
        {"source": "ask_exit", "keepkernel": False}
    ]

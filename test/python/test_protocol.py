"""The protocol server, running the echo language, under Jupyter's own clients."""

import jupyter_kernel_test
import nbformat
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TIMEOUT = 30


class EchoKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "echo"
    language_name = "echo"
    file_extension = ".echo"
    code_hello_world = "out hello, world"
    code_stderr = "err oh no"
    completion_samples = [{"text": "disp", "matches": {"display"}}]
    complete_code_samples = ["out a"]
    incomplete_code_samples = ["out ("]
    invalid_code_samples = ["|"]
    code_generate_error = "fail on purpose"
    code_execute_result = [
        {"code": "result 1", "result": "1"},
        {"code": "html b", "mime": "text/html", "result": "<b>b</b>"},
    ]
    code_display_data = [{"code": "display d", "mime": "text/plain"}]
    code_clear_output = "clear wait"
    code_history_pattern = "result 1"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "display"
    # The protocol deprecates payloads that open a pager.
    test_pager = None


class EchoIopubWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "echo"
    support_iopub_welcome = True


# These tests are inherited above; on their own they would test another kernel.
del jupyter_kernel_test


@pytest.fixture
def kernel():
    manager, client = start_new_kernel(kernel_name="echo")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def streams(client, code, **options):
    """Runs a cell; returns its reply and the text that it printed."""
    text = []

    def collect(message):
        if message["msg_type"] == "stream":
            text.append(message["content"]["text"])

    reply = client.execute_interactive(code, output_hook=collect, timeout=TIMEOUT, **options)
    return reply["content"], text


def test_input_is_requested_from_the_client(kernel):
    _, client = kernel
    prompts = []

    def answer(message):
        prompts.append(message["content"])
        client.input("Ada")

    reply, text = streams(client, "ask Name?", stdin_hook=answer)
    assert (reply["status"], text) == ("ok", ["got Ada"])
    assert prompts == [{"prompt": "Name?", "password": False}]


def test_interrupt_ends_the_cell_and_keeps_state(kernel):
    manager, client = kernel
    streams(client, "set a=1")
    running = client.execute("out started\nsleep 60000")
    while client.get_iopub_msg(timeout=TIMEOUT)["content"].get("text") != "started":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=TIMEOUT)
    assert reply["parent_header"]["msg_id"] == running
    assert (reply["content"]["status"], reply["content"]["ename"]) == ("error", "InterruptedError")
    results = []
    client.execute_interactive(
        "get a",
        timeout=TIMEOUT,
        output_hook=lambda message: results.append(message["content"].get("data")),
    )
    assert {"text/plain": "1"} in results


def test_restart_clears_state(kernel):
    manager, client = kernel
    streams(client, "set a=1")
    manager.restart_kernel()
    client.wait_for_ready(timeout=TIMEOUT)
    results = []
    client.execute_interactive(
        "get a",
        timeout=TIMEOUT,
        output_hook=lambda message: results.append(message["content"].get("data")),
    )
    assert {"text/plain": "unset"} in results


def test_shutdown_ends_the_process():
    manager = KernelManager(kernel_name="echo")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    process = manager.provisioner.process
    client.shutdown(reply=True, timeout=TIMEOUT)
    assert process.wait(TIMEOUT) == 0
    client.stop_channels()
    manager.cleanup_resources()


def test_completion_counts_code_points(kernel):
    _, client = kernel
    content = client.complete("😀 dis", reply=True, timeout=TIMEOUT)["content"]
    assert (content["matches"], content["cursor_start"], content["cursor_end"]) == (["display"], 2, 5)


def notebook(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def test_nbclient_runs_a_notebook():
    document = notebook("out a\nresult 1", "display d", "update e\nclear now\nerr f")
    NotebookClient(document, kernel_name="echo", timeout=TIMEOUT).execute()
    outputs = [
        [(output["output_type"], output.get("text") or output["data"]["text/plain"]) for output in cell.outputs]
        for cell in document.cells
    ]
    assert outputs == [
        [("stream", "a"), ("execute_result", "1")],
        [("display_data", "e")],
        [("stream", "f")],
    ]
    assert [cell.execution_count for cell in document.cells] == [1, 2, 3]


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("out a\npass 1\npass 2\nresult b", ["a", "b"]),
        ("pass 1\nresult b", ["b"]),
        ("pass 1", []),
        ("out a\npass 1", ["a"]),
        ("display a\npass 1\nupdate b\npass 2\nresult c", ["b", "c"]),
        ("out a\npass 1\nfail on purpose", ["a", "on purpose"]),
    ],
)
def test_transient_output_is_not_saved_in_the_notebook(code, kept):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, kernel_name="echo", timeout=TIMEOUT, allow_errors=True).execute()

    def text(output):
        if "data" in output:
            return output.data["text/plain"]
        return output.get("text", output.get("evalue"))

    assert [text(output) for output in notebook.cells[0].outputs] == kept


def test_nbclient_stops_at_an_error():
    document = notebook("out a", "fail on purpose", "out b")
    with pytest.raises(CellExecutionError, match="on purpose"):
        NotebookClient(document, kernel_name="echo", timeout=TIMEOUT).execute()
    assert [len(cell.outputs) for cell in document.cells] == [1, 1, 0]


def test_nbclient_continues_if_errors_are_allowed():
    document = notebook("fail on purpose", "out b")
    NotebookClient(document, kernel_name="echo", timeout=TIMEOUT, allow_errors=True).execute()
    assert [cell.outputs[0]["output_type"] for cell in document.cells] == ["error", "stream"]

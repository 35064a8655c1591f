"""Other tools on an APL notebook, with the wheel installed."""

import json
import socket
import subprocess
import time
import urllib.request

import nbformat
import pytest
from conftest import QUERY

TEXT = "text/plain"


@pytest.fixture(scope="session")
def executed(place):
    place.run("jupyter", "nbconvert", "--to", "notebook", "--execute", "a.ipynb", "--output", "run.ipynb")
    return nbformat.read(place.folder / "run.ipynb", 4)


def test_nbclient_runs_it(executed):
    assert "42" in executed.cells[-1].outputs[-1]["data"][TEXT]
    assert "GET" in executed.cells[1].outputs[-1]["data"][TEXT]


def test_nbconvert_makes_a_page(place, executed):
    place.run("jupyter", "nbconvert", "--to", "html", "run.ipynb")
    page = (place.folder / "run.html").read_text(encoding="utf-8")
    assert "<table" in page
    assert "Traceback" not in page


def test_nbconvert_writes_a_script_that_runs(place, executed):
    place.run("jupyter", "nbconvert", "--to", "script", "run.ipynb")
    cells = ["%time last 1d\n%use local", QUERY, "print answer = 6 * 7"]
    assert (place.folder / "run.apl").read_text(encoding="utf-8") == "\n".join(f"// %%\n{cell}\n" for cell in cells)
    place.run("apl-kernel", "run", "run.apl")


def test_papermill_sets_parameters(place):
    notebook = place.write("p.ipynb", "%param n = 1", "print twice = n * 2")
    notebook.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(notebook, place.folder / "p.ipynb")
    place.run("papermill", "p.ipynb", "q.ipynb", "-p", "n", "21")
    assert "42" in nbformat.read(place.folder / "q.ipynb", 4).cells[-1].outputs[-1]["data"][TEXT]


REGISTERED = """
import sys, jupytext, apl_kernel.jupytext_language as added
assert added.register()
jupytext.write(jupytext.read('a.ipynb'), 'server.md', fmt='md')
print([cell.source for cell in jupytext.read('server.md').cells if cell.cell_type == 'code'][1])
"""


def test_jupytext_keeps_the_cells(place):
    place.run("jupytext", "--to", "md:myst", "a.ipynb", "-o", "a.md")
    place.run("jupytext", "--to", "ipynb", "a.md", "-o", "back.ipynb")
    sources = [cell.source for cell in nbformat.read(place.folder / "a.ipynb", 4).cells]
    assert [cell.source for cell in nbformat.read(place.folder / "back.ipynb", 4).cells] == sources
    # If a server has loaded the wheel's extension, jupytext's own Markdown preserves them too.
    assert place.run("python", "-c", REGISTERED).strip() == QUERY


def test_nbdime_shows_the_line_that_changed(place):
    place.write("b.ipynb", "%time last 1d\n%use local", QUERY, "print answer = 6 * 9")
    shown = place.run("nbdiff", "--no-color", "a.ipynb", "b.ipynb")
    assert "-  print answer = 6 * 7" in shown
    assert "+  print answer = 6 * 9" in shown
    assert len(shown) < 1_000


def test_nbval_passes(place, executed):
    assert "3 passed" in place.run("python", "-m", "pytest", "-q", "--nbval-lax", "run.ipynb")


def test_myst_nb_builds_without_a_warning(place, executed):
    book = place.folder / "myst"
    book.mkdir()
    (book / "conf.py").write_text("extensions = ['myst_nb']\nnb_execution_mode = 'force'\n")
    (book / "index.md").write_text(f"# Home\n\n```axiom-apl\n{QUERY}\n```\n\n```{{toctree}}\nnotebook\n```\n")
    titled(place, book / "notebook.ipynb")
    place.run("python", "-m", "sphinx", "-W", "-b", "html", book, book / "out")
    page = (book / "out" / "notebook.html").read_text(encoding="utf-8")
    assert "42" in page
    # The wheel's lexer has colored the block.
    assert '<span class="k">summarize</span>' in (book / "out" / "index.html").read_text(encoding="utf-8")


def test_jupyter_book_builds_without_a_warning(place, executed):
    book = place.folder / "book"
    book.mkdir()
    (book / "_config.yml").write_text("title: APL\nexecute:\n  execute_notebooks: force\n")
    (book / "_toc.yml").write_text("format: jb-book\nroot: notebook\n")
    titled(place, book / "notebook.ipynb")
    place.run("jupyter-book", "build", "-W", "-n", book)
    assert "42" in (book / "_build" / "html" / "notebook.html").read_text(encoding="utf-8")


def titled(place, path):
    notebook = nbformat.read(place.folder / "a.ipynb", 4)
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("# A notebook", id="title"))
    nbformat.write(notebook, path)


def test_voila_serves_it(place):
    with serving(place, "voila", "--no-browser", "--port={port}", "--Voila.ip=127.0.0.1", "a.ipynb") as url:
        page = fetched(url)
    assert "requests" in page
    assert "42" in page
    assert "image/svg+xml" in page
    assert "vnd.vega" not in page


def test_jupyter_collaboration_opens_it_beside_the_extension(place):
    options = ["--no-browser", "--ServerApp.port={port}", "--IdentityProvider.token=secret", "--allow-root"]
    with serving(place, "jupyter", "lab", *options) as url:
        request = urllib.request.Request(
            f"{url}api/collaboration/session/a.ipynb?token=secret",
            data=json.dumps({"format": "json", "type": "notebook"}).encode(),
            method="PUT",
        )
        session = json.loads(fetched(request))
        specs = json.loads(fetched(f"{url}api/kernelspecs?token=secret"))
    assert session["type"] == "notebook"
    assert "apl" in specs["kernelspecs"]


class serving:
    """Runs a server on a free port until the block ends; returns its address."""

    def __init__(self, place, *command):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        self.command = [word.format(port=port) for word in command]
        self.place = place

    def __enter__(self):
        log = open(self.place.folder / "server.log", "w")
        self.process = subprocess.Popen(
            self.command, cwd=self.place.folder, env=self.place.env, stdout=log, stderr=log
        )
        return self.url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def fetched(request):
    """Returns the body of a response, once the server is listening."""
    while True:
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.read().decode()
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            time.sleep(0.2)

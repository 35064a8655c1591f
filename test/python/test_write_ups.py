"""Write-ups with other tools: parameters by papermill, results by pyarrow, identical outputs in each nbclient run."""

import base64

import nbformat
import papermill
import pyarrow
import pyarrow.ipc
import pytest
from nbclient import NotebookClient
from papermill.translators import papermill_translators

ARROW = "application/vnd.apache.arrow.stream"
FIRST = '%use local\n%time 2026-01-26T14:00Z..2026-01-26T15:00Z'


def notebook(*sources, parameters=None):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    if parameters is not None:
        cells[parameters].metadata["tags"] = ["parameters"]
    spec = {"name": "apl", "display_name": "APL (Axiom)", "language": "axiom-apl"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


def executed(book):
    NotebookClient(book, kernel_name="apl", timeout=120, record_timing=False).execute()
    return book


def plain(book, cell):
    return "\n".join(output.get("data", {}).get("text/plain", "") for output in book.cells[cell].outputs)


@pytest.fixture(scope="module")
def injected(tmp_path_factory):
    directory = tmp_path_factory.mktemp("papermill")
    book = notebook(
        FIRST,
        '%param name = "default" window = 1m flag = false',
        "print name, twice = n * 2, half = x / 2, flag, first = tostring(list[1]), k = tostring(map.k), window",
        'datatable(uri: string)["/a", "/b"] | where uri in (list) | count',
        parameters=1,
    )
    nbformat.write(book, directory / "in.ipynb")
    values = {"name": "it's \"é\" \\ | %\n", "n": 21, "x": 0.5, "flag": True, "list": ["/b", "x"], "map": {"k": "v"}}
    papermill.execute_notebook(directory / "in.ipynb", directory / "out.ipynb", parameters=values, progress_bar=False)
    return nbformat.read(directory / "out.ipynb", as_version=4)


def test_papermill_injects_after_the_parameters(injected):
    assert injected.cells[2].metadata.tags == ["injected-parameters"]
    assert injected.cells[2].source.split("\n")[:3] == [
        "// Parameters",
        r'%param name = "it' + r"'" + r's \"é\" \\ | %\n"',
        "%param n = 21",
    ]


def test_parameter_values_arrive_unchanged(injected):
    text = plain(injected, 3)
    assert "it's \"é\" \\ | %↵" in text
    for value in ("42", "0.25", "true", "x", "v", "1m0s"):
        assert value in text.split("\n")[-2] or value in text
    assert text.count("default") == 0
    assert "\n    1\n" in plain(injected, 4)


def test_a_time_passed_as_text_becomes_a_time(tmp_path):
    book = notebook(
        FIRST,
        "%param begin = datetime(2026-01-26) length = 1m code = \"500\" n = 1",
        "print t = gettype(begin), end = begin + length, code, n = n - 1",
        parameters=1,
    )
    nbformat.write(book, tmp_path / "in.ipynb")
    values = {"begin": "2026-01-26T14:30:00+02:00", "length": "90s", "code": "404 \"\n", "n": -7}
    papermill.execute_notebook(tmp_path / "in.ipynb", tmp_path / "out.ipynb", parameters=values, progress_bar=False)
    text = plain(nbformat.read(tmp_path / "out.ipynb", as_version=4), 3)
    for value in ("datetime", "2026-01-26T12:31:30Z", '404 "↵', "-8"):
        assert value in text


@pytest.mark.parametrize(
    "source, parameters",
    [
        (
            '%use local\n%param env = "a = b, \\"c" --choices "prod", "x = y"\nprint 1',
            [("env", "string", r'"a = b, \"c"', 'one of "prod", "x = y"')],
        ),
        (
            "%PARAM list = dynamic([1, 2]) map={\"a\": 1}, neg = -3 r = 1.5 len = 5m day = datetime(2026-01-01) ok = true",
            [
                ("list", "dynamic", "dynamic([1, 2])", ""),
                ("map", "dynamic", '{"a": 1}', ""),
                ("neg", "long", "-3", ""),
                ("r", "real", "1.5", ""),
                ("len", "timespan", "5m", ""),
                ("day", "datetime", "datetime(2026-01-01)", ""),
                ("ok", "bool", "true", ""),
            ],
        ),
        (
            '%param who --prompt\ndeclare query_parameters(city: string = "Ulm, )", n: long = (1 + 2), t: datetime);\nweb | where n == 1',
            [
                ("who", "None", "None", ""),
                ("city", "string", '"Ulm, )"', ""),
                ("n", "long", "(1 + 2)", ""),
                ("t", "datetime", "None", ""),
            ],
        ),
        ("declare query_parameters (", []),
        ("%param", []),
    ],
)
def test_papermill_lists_the_parameters(source, parameters):
    translator = papermill_translators.find_translator("apl", "axiom-apl")
    assert [tuple(each) for each in translator.inspect(notebook(source).cells[0])] == parameters


def test_pyarrow_reads_the_results():
    book = executed(notebook(FIRST, "['sample-http-logs'] | limit 1000"))
    data = book.cells[1].outputs[-1].data[ARROW]
    table = pyarrow.ipc.open_stream(base64.b64decode(data)).read_all()
    table.validate(full=True)
    assert table.num_rows == 1000
    assert table.column("_time").type == pyarrow.timestamp("ns", tz="UTC")
    assert set(table.column("method").to_pylist()) >= {"GET", "POST"}


def test_a_thousand_rows_are_small():
    fields = "_time, id, method, uri, status, req_duration_ms, resp_body_size_bytes, ['geo.city'], ['geo.country'], user_agent"
    book = executed(notebook(FIRST, f"['sample-http-logs'] | project {fields} | limit 1000"))
    assert len(nbformat.writes(book)) < 128 * 1024


def test_a_frozen_notebook_runs_to_the_same_file():
    sources = [
        FIRST,
        "['sample-http-logs'] | summarize count() by bin(_time, 5m), method",
        "['sample-http-logs'] | where _time > ago(10m) | limit 50",
    ]
    first, second = (nbformat.writes(executed(notebook(*sources))) for _ in range(2))
    assert first == second
    assert first.count("image/svg+xml") == 1

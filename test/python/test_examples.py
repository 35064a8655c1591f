"""The example notebooks, run from top to bottom as by `jupyter execute`, and exported as a page."""

import re
from pathlib import Path

import nbconvert
import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))

# Claims of the notebooks' prose about the data, as table rows.
STORIES = {
    "01-first-look": [
        r"GRU +897 +790 +[\d,]+ +88\.1",
        r"database connection pool exhausted +789 +2026-01-26T15:09:\S+ +2026-01-26T15:35:\S+",
    ],
    "02-own-data": [
        r"gateway_timeout +BR +42 +2026-01-26T15:09:\S+ +2026-01-26T15:35:\S+",
        r"2026-01-26T14:58:20Z +payment +gru-1 +deploy",
        r"2026-01-26T15:36:41Z +payment +gru-1 +rollback",
        r"US +81 +4,201",
        r"(?m)^ +43$",
    ],
}
STORIES |= {
    "03-security-hunt": [
        r"203\.0\.113\.77 +164 +10 +1 +2026-01-27T02:11:07Z +2026-01-27T03:40:\S+",
        r"2026-01-27T03:41:12Z +db-1 +backup +password +203\.0\.113\.77 +164",
        r"db-1 +backup +/usr/bin/tar czf /tmp/b\.tgz /var/lib/postgresql",
        r"root +publickey +203\.0\.113\.90 +db-1 +1 +2026-01-27T04:05:40Z",
        r"db-1 +203\.0\.113\.90 +1 +1 +2026-01-27T04:05:40Z",
    ],
    "04-weekly-report": [
        r"202,348 +202,414 +-66 +-0\.03\d+\n",
        r"4,128 +4,291 +-163 ",
        r"2026-01-19T04:00:00Z +752 +382 +50\.8",
        r"database connection pool exhausted +1,765 +151 +2026-01-19T00:04:\S+ +2026-01-25T23:36:\S+",
        r"GRU +202,348 +4,128 +128\.6 +2\.04",
    ],
    "05-incident": [
        r"GRU +897 +963 +-66 +-6\.\d+ +790 +6 +784 +13,066\.\d+",
        r"2026-01-26T14:58:20Z +payment +deploy +2\.9\.10 +gru-1 +2026-01-26T15:09:00Z +2026-01-26T15:36:00Z",
        r"2026-01-26T15:36:41Z +payment +rollback +2\.9\.9 +gru-1",
    ],
    "06-why": [
        r"- Failed: 139 \(4%\); before: 43 \(1%\)\.",
        r"- 3 deployments nearby in deployments: payment 2\.9\.6 deploy lhr-1, 6m7s before the range start; ",
        r"- Events: 3,586; before: 3,696\.",
        r"100% of the selected events have status\.message = deadline exceeded, 0% of the others",
        r"payment oteldemo\.PaymentService/Charge +\S+ +4s +\* \S+ deadline exceeded",
        r"request failed: deadline exceeded +2026-01-26T07:37:21\S+ ",
        r"2026-01-26T07:28:53Z +payment +2\.9\.6 +lhr-1 +8m27\S+ +16 +2026-01-26T07:37:20\S+ +2026-01-26T07:43:28\S+ +2",
    ],
}
STORIES |= {
    "07-three-places": [
        r"gateway_timeout +BR +42 +2026-01-26T15:09:\S+ +2026-01-26T15:35:\S+",
        r"US +81 +4,201",
        r"card +246 +221\.0 +30,319\.5",
    ],
}
CHARTS = {"01-first-look": 10, "02-own-data": 4, "03-security-hunt": 1, "04-weekly-report": 1, "05-incident": 1}
CHARTS |= {"06-why": 3, "07-three-places": 4}
# A chart of several plots is tall, so it comes after its table.
AFTER_TABLE = {"01-first-look": 2, "02-own-data": 1, "07-three-places": 2}


def read(path):
    return nbformat.read(path, as_version=4)


def execute(path):
    notebook = read(path)
    resources = {"metadata": {"path": str(EXAMPLES)}}
    NotebookClient(notebook, kernel_name="apl", timeout=120, resources=resources).execute()
    return notebook


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def executed(request):
    return request.param.stem, execute(request.param)


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def bundles(notebook, mime):
    return ["".join(output.data[mime]) for output in outputs(notebook) if mime in output.get("data", {})]


def test_there_are_seven_examples():
    assert [path.stem for path in NOTEBOOKS] == list(STORIES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_without_outputs(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == {
        "name": "apl",
        "display_name": "APL (Axiom)",
        "language": "axiom-apl",
    }
    assert outputs(notebook) == []
    assert {cell.get("execution_count") for cell in notebook.cells} == {None}


def test_no_cell_fails_or_warns(executed):
    _, notebook = executed
    kinds = {(output.output_type, output.get("name")) for output in outputs(notebook)}
    assert kinds <= {("stream", "stdout"), ("display_data", None), ("execute_result", None)}
    assert not [page for page in bundles(notebook, "text/html") if 'class="apl-warn"' in page]


def test_every_table_has_rows(executed):
    _, notebook = executed
    tables = [page for page in bundles(notebook, "text/html") if "<table" in page]
    assert len(tables) > 4
    assert [page for page in tables if not re.search(r"<tbody>\s*<tr", page)] == []


def test_results_over_time_have_a_chart_and_a_table(executed):
    name, notebook = executed
    beside = {"text/markdown", "application/vnd.axiom-apl.explained+json"}
    charted = [
        [set(output.data) for output in cell.outputs if "data" in output and not beside & set(output.data)]
        for cell in notebook.cells
        if cell.cell_type == "code" and any("image/svg+xml" in o.get("data", {}) for o in cell.outputs)
    ]
    chart = {"application/vnd.vega.v5+json", "image/svg+xml", "text/plain"}
    table = {"text/html", "text/plain", "application/vnd.apache.arrow.stream"}
    after = AFTER_TABLE.get(name, 0)
    assert (charted.count([chart, table]), charted.count([table, chart])) == (CHARTS[name] - after, after)
    assert len(charted) == CHARTS[name]


def test_tables_match_the_prose(executed):
    name, notebook = executed
    text = "\n".join(bundles(notebook, "text/plain"))
    assert [story for story in STORIES[name] if not re.search(story, text)] == []


def test_an_exported_page_has_charts_and_tables(executed):
    name, notebook = executed
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert page.count('class="apl-table') >= CHARTS[name]
    charts = page.count("data:image/svg+xml") + len(re.findall(r"<svg[^>]*class=\"marks", page))
    charts += page.count("vegaEmbed(")
    assert charts >= CHARTS[name]


def test_own_data_can_be_rerun():
    path = EXAMPLES / "02-own-data.ipynb"
    runs = [execute(path) for _ in range(2)]
    rows = [re.findall(r"orders: (\d+) rows", "\n".join(bundles(run, "text/plain"))) for run in runs]
    assert rows == [["317"], ["317"]]
    for run in runs:
        counts = bundles(run, "text/plain")[-2:]
        assert [int(re.search(r"(?m)^ +(\d+)$", text).group(1)) for text in counts] == [43, 274]

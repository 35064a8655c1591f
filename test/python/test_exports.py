"""The files that %export writes, read by the code it prints and by other readers; the values are those of exact.ts."""

import json
import math
import subprocess

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as parquet
import pytest
from conftest import LOADER, ROOT

INTEGERS = [2**63 - 1, -(2**63), None, 0, 1, 2]
TIMES = [1772600767123456789, 915148800000000000, None, None, None, None]
SPANS = [86400000000001, -1, None, None, None, None]
REALS = [0.1, math.nan, math.inf, -math.inf, -0.0, 1e300]
TEXTS = ["", "=cmd()", None, '+1\n,"x"', "'=twice", "\U0001f600\u202e\u200b"]
ESCAPED = ["", "'=cmd()", None, '\'+1\n,"x"', "''=twice", "\U0001f600\u202e\u200b"]
DOCUMENTS = [{"a": [1, None]}, [1, 2], None, None, None, None]
DOCUMENTS_AS_TEXT = ['{"a":[1,null]}', "[1,2]", None, "null", None, None]
TRUTHS = [True, False, None, None, None, None]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exports")
    script = ROOT / "test" / "result" / "export" / "write.ts"
    command = ["node", "--import", LOADER, str(script), str(directory)]
    return directory, json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def same(left, right):
    """Whether two values are equal and of equal type; NaN equals NaN, and the two zeros differ."""
    if isinstance(left, float) and isinstance(right, float):
        return repr(left) == repr(right)
    return left == right and (left is None) == (right is None)


def check(values, expected):
    assert len(values) == len(expected)
    assert all(same(*pair) for pair in zip(values, expected)), (values, expected)


def plain(value):
    return None if value is None or value is pd.NA or value is pd.NaT else value


def from_pandas(frame, column):
    return [plain(value) for value in frame[column].astype(object)]


def nanoseconds(frame, column):
    return [None if pd.isna(value) else int(value.value) for value in frame[column].astype(object)]


def load(exported, ending, library):
    return eval(exported[1][ending][library], {"pd": pd, "pl": pl, "json": json})


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_pandas_reads_delimited_text(exported, ending):
    frame = load(exported, ending, "pandas")
    check(from_pandas(frame, "n"), INTEGERS)
    check(nanoseconds(frame, "t"), TIMES)
    check(from_pandas(frame, "d"), SPANS)
    check([float(value) for value in frame["r"]], REALS)
    # pandas reads an empty string as missing, quoted or not.
    check(from_pandas(frame, "s"), [value or None for value in ESCAPED])
    check(from_pandas(frame, "b"), TRUTHS)
    assert list(frame.columns)[-1] == "'=name"


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_polars_reads_delimited_text(exported, ending):
    frame = load(exported, ending, "polars")
    check(frame["n"].to_list(), INTEGERS)
    check(frame["t"].dt.epoch("ns").to_list(), TIMES)
    check(frame["d"].to_list(), SPANS)
    check(frame["r"].to_list(), REALS)
    check(frame["s"].to_list(), ESCAPED)
    check([json.loads(value) if value else None for value in frame["x"]], DOCUMENTS)
    check(frame["b"].to_list(), TRUTHS)


def test_pandas_reads_json(exported):
    for ending in ("ndjson", "json"):
        frame = load(exported, ending, "pandas")
        check(from_pandas(frame, "n"), INTEGERS)
        check(from_pandas(frame, "d"), SPANS)
        check(from_pandas(frame, "s"), TEXTS)
        check(from_pandas(frame, "x"), DOCUMENTS)
        check(from_pandas(frame, "r"), [value if math.isfinite(value) else None for value in REALS])


def test_polars_reads_json_lines(exported):
    frame = load(exported, "ndjson", "polars")
    check(frame["n"].to_list(), INTEGERS)
    check(frame["s"].to_list(), TEXTS)
    check([json.loads(value) if value else None for value in frame["x"]], DOCUMENTS)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_pandas_and_polars_read_typed_files(exported, ending):
    frame = load(exported, ending, "pandas")
    check(from_pandas(frame, "n"), INTEGERS)
    check(nanoseconds(frame, "t"), TIMES)
    check(nanoseconds(frame, "d"), SPANS)
    check(from_pandas(frame, "s"), TEXTS)
    check(from_pandas(frame, "x"), DOCUMENTS_AS_TEXT)
    frame = load(exported, ending, "polars")
    check(frame["n"].to_list(), INTEGERS)
    check(frame["t"].dt.epoch("ns").to_list(), TIMES)
    check(frame["d"].dt.total_nanoseconds().to_list(), SPANS)
    check(frame["r"].to_list(), REALS)
    check(frame["s"].to_list(), TEXTS)
    check(frame["b"].to_list(), TRUTHS)
    check(frame["x"].to_list(), DOCUMENTS_AS_TEXT)


def test_pyarrow_reads_parquet(exported):
    table = parquet.read_table(exported[0] / "t.parquet")
    types = [str(field.type) for field in table.schema]
    assert types[:5] == ["int64", "timestamp[ns, tz=UTC]", "duration[ns]", "double", "string"]
    check(table["n"].to_pylist(), INTEGERS)
    check(table["r"].to_pylist(), REALS)
    check(table["t"].cast("int64").to_pylist(), TIMES)


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "json", "parquet"])
def test_duckdb_reads_files(exported, ending):
    options = ", allow_quoted_nulls=false" if ending.endswith("sv") else ""
    reader = {"csv": "read_csv", "tsv": "read_csv", "parquet": "read_parquet"}.get(ending, "read_json")
    source = f"{reader}('{exported[0] / 't'}.{ending}'{options})"
    columns = duckdb.sql(f"SELECT n, d, s FROM {source}").fetchall()
    numbers, spans, texts = (list(column) for column in zip(*columns))
    check(numbers, INTEGERS)
    check(spans, SPANS)
    check(texts, ESCAPED if ending.endswith("sv") else TEXTS)
    if ending == "parquet":
        times = duckdb.sql(f"SELECT epoch_ns(t) FROM {source}").fetchall()
        check([value for (value,) in times], TIMES)


def test_dynamic_values_in_parquet_are_marked_as_json(exported):
    """Marked by the format itself, for readers that ignore Arrow's schema."""
    source = exported[0] / "t.parquet"
    assert str(parquet.ParquetFile(source).schema.column(5).logical_type) == "JSON"
    types = duckdb.sql(f"SELECT DISTINCT typeof(s), typeof(x) FROM '{source}'").fetchall()
    assert types == [("VARCHAR", "JSON")]
    marks = duckdb.sql(f"SELECT converted_type FROM parquet_schema('{source}') WHERE name = 'x'").fetchall()
    assert marks == [("JSON",)]

"""Writes the Parquet files of this directory: `python make.py`, with pyarrow 26.0.1, polars 2.1.0 and duckdb 2.0.1. Then format the
JSON: `npx biome check --write test/local/store/readers/parquet/types`.

A file has a column for each type, and a row for each of its extremes. The file of the same name in JSON holds, for each column, the
type and the values as its writer names them.
"""

import base64
import datetime
import decimal
import json
import math
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

HERE = Path(__file__).parent
LEAST, MOST = -(2**63), 2**63 - 1
SECOND_9999 = 253402300799
SECOND_0001 = -62135596800
UTC = datetime.timezone.utc


def save_names(name, columns):
    """Writes what the columns of a file hold: {column: [type, values]}."""
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in columns.items()]
    (HERE / f"{name}.json").write_text("{\n  " + ",\n  ".join(lines) + "\n}\n")


def padded(values, rows):
    return [*values, *([None] * (rows - len(values)))]


def write_arrow(name, columns, **options):
    """`columns` are {name: (type, values as Python or as integers, values as text)}."""
    rows = max(len(values) for _, values, _ in columns.values()) + 1
    arrays = [array_of(type_, padded(values, rows)) for type_, values, _ in columns.values()]
    table = pa.Table.from_arrays(arrays, names=list(columns))
    pq.write_table(table, HERE / f"{name}.parquet", **options)
    save_names(name, {key: [str(type_), list(texts)] for key, (type_, _, texts) in columns.items()})


def array_of(type_, values):
    """Times are made of integers, as Python's have no nanoseconds and end in the year 9999."""
    if pa.types.is_temporal(type_):
        size = pa.int32() if type_.bit_width == 32 else pa.int64()
        return pa.array(values, size).view(type_)
    return pa.array(values, type_)


def times(unit, factor):
    inside, nano = 1_700_000_000 * factor, 1 if factor == 10**9 else 0
    if factor == 10**9:
        return [LEAST + 1, inside + 123456789, MOST, -1], [
            "1677-09-21T00:12:43.145224193", "2023-11-14T22:13:20.123456789",
            "2262-04-11T23:47:16.854775807", "1969-12-31T23:59:59.999999999",
        ]
    return [SECOND_0001 * factor, inside, SECOND_9999 * factor, -1], [
        "0001-01-01T00:00:00", "2023-11-14T22:13:20", "9999-12-31T23:59:59",
        {1: "1969-12-31T23:59:59", 10**3: "1969-12-31T23:59:59.999", 10**6: "1969-12-31T23:59:59.999999"}[factor],
    ]


def arrow_columns():
    columns = {}
    units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    for unit, factor in units.items():
        for zone in (None, "UTC", "Europe/Berlin"):
            suffix = "" if zone is None else "_utc" if zone == "UTC" else "_berlin"
            columns[f"timestamp_{unit}{suffix}"] = (pa.timestamp(unit, zone), *times(unit, factor))
    for unit, factor in units.items():
        values = [1, -1, 86_400 * factor, MOST, LEAST + 1]
        columns[f"duration_{unit}"] = (pa.duration(unit), values, [f"{value} {unit}" for value in values])
    columns["time32_s"] = (pa.time32("s"), [0, 86_399], ["00:00:00", "23:59:59"])
    columns["time32_ms"] = (pa.time32("ms"), [0, 86_399_999], ["00:00:00", "23:59:59.999"])
    columns["time64_us"] = (pa.time64("us"), [1, 86_399_999_999], ["00:00:00.000001", "23:59:59.999999"])
    columns["time64_ns"] = (pa.time64("ns"), [1, 86_399_999_999_999], ["00:00:00.000000001", "23:59:59.999999999"])
    columns["date32"] = (pa.date32(), [-719162, 19675, 2932896, -1], ["0001-01-01", "2023-11-14", "9999-12-31", "1969-12-31"])
    columns["date64"] = (pa.date64(), [-719162 * 86_400_000, 19675 * 86_400_000, 2932896 * 86_400_000], ["0001-01-01", "2023-11-14", "9999-12-31"])
    for bits in (8, 16, 32, 64):
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        columns[f"int{bits}"] = (getattr(pa, f"int{bits}")(), [low, high], [str(low), str(high)])
        columns[f"uint{bits}"] = (getattr(pa, f"uint{bits}")(), [0, 2**bits - 1], ["0", str(2**bits - 1)])
    columns["uint64_small"] = (pa.uint64(), [0, MOST], ["0", str(MOST)])
    columns["float16"] = (pa.float16(), [0.5, 65504.0, 6e-8, math.inf], ["0.5", "65504", "6e-8", "inf"])
    columns["float32"] = (pa.float32(), [0.1, 3.4028234e38, -math.inf, math.nan], ["0.1", "3.4028234e38", "-inf", "nan"])
    columns["float64"] = (pa.float64(), [0.1, 1.7976931348623157e308, 5e-324, -0.0, math.nan], ["0.1", "1.7976931348623157e308", "5e-324", "-0.0", "nan"])
    for digits, scale in ((9, 2), (18, 0), (18, 6), (38, 10), (38, 0)):
        most = "9" * (digits - scale) + ("." + "9" * scale if scale else "")
        texts = [most, f"-{most}"]
        columns[f"decimal_{digits}_{scale}"] = (pa.decimal128(digits, scale), [decimal.Decimal(text) for text in texts], texts)
    columns["bool"] = (pa.bool_(), [True, False], ["true", "false"])
    columns["string"] = (pa.string(), ["", "\u00e4\U0001f600", "a\0b", "null"], ["", "\u00e4\U0001f600", "a\\0b", "null"])
    columns["large_string"] = (pa.large_string(), ["x"], ["x"])
    columns["dictionary"] = (pa.dictionary(pa.int8(), pa.string()), ["GET", "PUT", "GET"], ["GET", "PUT", "GET"])
    columns["binary"] = (pa.binary(), [b"\x00\xff", b""], ["00 ff", ""])
    columns["fixed_binary"] = (pa.binary(2), [b"ab"], ["61 62"])
    columns["null"] = (pa.null(), [], [])
    columns["list_int"] = (pa.list_(pa.int64()), [[MOST, None], []], [f"[{MOST}, null]", "[]"])
    columns["map"] = (pa.map_(pa.string(), pa.int64()), [[("a", MOST)], []], [f'{{"a": {MOST}}}', "{}"])
    columns["map_int"] = (pa.map_(pa.int32(), pa.string()), [[(1, "x"), (2, None)]], ['{1: "x", 2: null}'])
    return columns


def nested_columns():
    instant = datetime.datetime(2023, 11, 14, 22, 13, 20, 123456)
    far = datetime.datetime(9999, 12, 31)
    aware = instant.replace(tzinfo=UTC)
    struct = pa.struct([("t", pa.timestamp("us")), ("n", pa.uint64()), ("s", pa.struct([("d", pa.duration("ms"))]))])
    value = {"t": far, "n": 2**64 - 1, "s": {"d": datetime.timedelta(milliseconds=1500)}}
    return {
        "list_timestamp": (pa.list_(pa.timestamp("us")), [[instant, None], [far]], ["[2023-11-14T22:13:20.123456, null]", "[9999-12-31T00:00:00]"]),
        "list_timestamp_utc": (pa.list_(pa.timestamp("ms", "UTC")), [[aware]], ["[2023-11-14T22:13:20.123Z]"]),
        "list_date": (pa.list_(pa.date32()), [[instant.date()]], ["[2023-11-14]"]),
        "list_duration": (pa.list_(pa.duration("us")), [[datetime.timedelta(microseconds=1500)]], ["[1500 us]"]),
        "list_time": (pa.list_(pa.time64("us")), [[datetime.time(1, 2, 3)]], ["[01:02:03]"]),
        "list_uint64": (pa.list_(pa.uint64()), [[2**64 - 1]], [f"[{2**64 - 1}]"]),
        "list_decimal": (pa.list_(pa.decimal128(38, 2)), [[decimal.Decimal("1.50"), decimal.Decimal("9" * 36 + ".99")]], ["[1.50, " + "9" * 36 + ".99]"]),
        "list_binary": (pa.list_(pa.binary()), [[b"\x00\xff"]], ["[00 ff]"]),
        "list_float": (pa.list_(pa.float64()), [[0.5, math.nan, math.inf]], ["[0.5, nan, inf]"]),
        "list_list": (pa.list_(pa.list_(pa.timestamp("us"))), [[[instant], []]], ["[[2023-11-14T22:13:20.123456], []]"]),
        "struct": (struct, [value, {"t": instant, "n": 1, "s": None}], ["{t: 9999-12-31T00:00:00, n: 18446744073709551615, s: {d: 1500 ms}}", "{t: 2023-11-14T22:13:20.123456, n: 1, s: null}"]),
        "list_struct": (pa.list_(struct), [[value]], ["[{t: 9999-12-31T00:00:00, n: 18446744073709551615, s: {d: 1500 ms}}]"]),
        "map_timestamp": (pa.map_(pa.string(), pa.timestamp("us")), [[("a", instant)]], ['{"a": 2023-11-14T22:13:20.123456}']),
    }


def int96_columns():
    return {
        "int96": (
            pa.timestamp("ns"),
            [1700000000123456789, LEAST + 1, MOST, -1],
            ["2023-11-14T22:13:20.123456789", "1677-09-21T00:12:43.145224193", "2262-04-11T23:47:16.854775807", "1969-12-31T23:59:59.999999999"],
        ),
        "int96_far": (pa.timestamp("s"), [SECOND_9999, SECOND_0001, 1700000000], ["9999-12-31T23:59:59", "0001-01-01T00:00:00", "2023-11-14T22:13:20"]),
    }


def write_names():
    """Columns whose names are equal, or differ by case only."""
    struct = pa.array([{"a": 4, "A": 5}], pa.struct([("a", pa.int64()), ("A", pa.int64())]))
    arrays = [*(pa.array([number]) for number in range(4)), struct]
    pq.write_table(pa.Table.from_arrays(arrays, names=["x", "x", "X", "_TIME", "s"]), HERE / "names.parquet")
    ours = {"x": "0", "x_2": "1", "X": "2", "_TIME": "3", "s.a": "4", "s.A": "5"}
    save_names("names", {name: ["int64", [value]] for name, value in ours.items()})


def write_polars():
    rows = 3
    columns = {
        "datetime_ns": (pl.Datetime("ns"), [1700000000123456789, -1]),
        "datetime_us": (pl.Datetime("us", "Europe/Berlin"), [1700000000123456, SECOND_9999 * 10**6]),
        "datetime_ms": (pl.Datetime("ms"), [1700000000123, SECOND_0001 * 10**3]),
        "duration_ns": (pl.Duration("ns"), [1, -1]),
        "duration_us": (pl.Duration("us"), [1, MOST]),
        "duration_ms": (pl.Duration("ms"), [1500, MOST]),
        "time": (pl.Time, [1, 86_399_999_999_999]),
        "date": (pl.Date, [-1, 2932896]),
        "int128": (pl.Int128, [2**100, -(2**127)]),
        "uint64": (pl.UInt64, [0, 2**64 - 1]),
        "decimal": (pl.Decimal(38, 4), ["9" * 34 + ".9999", "-0.0001"]),
        "categorical": (pl.Categorical, ["GET", "PUT"]),
        "enum": (pl.Enum(["GET", "PUT"]), ["GET", "PUT"]),
        "array": (pl.Array(pl.Int64, 2), [[1, 2], [MOST, LEAST]]),
        "list_duration": (pl.List(pl.Duration("us")), [[1500], []]),
        "binary": (pl.Binary, [b"\x00\xff", b""]),
        "null": (pl.Null, [None, None]),
    }
    series = [polars_series(name, dtype, padded(values, rows)) for name, (dtype, values) in columns.items()]
    pl.DataFrame(series).write_parquet(HERE / "polars.parquet")
    save_names("polars", {name: [str(dtype), [polars_text(value) for value in values]] for name, (dtype, values) in columns.items()})


def polars_series(name, dtype, values):
    """Times are made of integers."""
    if dtype.is_temporal():
        size = pl.Int32 if dtype == pl.Date else pl.Int64
        return pl.Series(name, values, dtype=size).cast(dtype)
    if dtype == pl.List(pl.Duration("us")):
        return pl.Series(name, values, dtype=pl.List(pl.Int64)).cast(dtype)
    if dtype.is_decimal():
        return pl.Series(name, [value and decimal.Decimal(value) for value in values], dtype=dtype)
    return pl.Series(name, values, dtype=dtype)


def polars_text(value):
    return value.hex(" ") if isinstance(value, bytes) else str(value)


DUCKDB = {
    "timestamp": ("TIMESTAMP", ["9999-12-31 23:59:59", "infinity", "2023-11-14 22:13:20.123456"]),
    "timestamp_s": ("TIMESTAMP_S", ["2023-11-14 22:13:20"]),
    "timestamp_ms": ("TIMESTAMP_MS", ["2023-11-14 22:13:20.123"]),
    "timestamp_ns": ("TIMESTAMP_NS", ["2023-11-14 22:13:20.123456789"]),
    "timestamptz": ("TIMESTAMPTZ", ["0001-01-01 00:00:00+00", "2023-11-14 22:13:20.123456+00"]),
    "time": ("TIME", ["23:59:59.999999", "24:00:00"]),
    "timetz": ("TIMETZ", ["12:00:00+02"]),
    "date": ("DATE", ["9999-12-31", "infinity", "1969-12-31"]),
    "interval": ("INTERVAL", ["1 day 02:00:00.003", "0.5 seconds"]),
    "interval_months": ("INTERVAL", ["1 month", "1 day"]),
    "hugeint": ("HUGEINT", ["170141183460469231731687303715884105727", "-1"]),
    "uhugeint": ("UHUGEINT", ["340282366920938463463374607431768211455", "0"]),
    "ubigint": ("UBIGINT", ["18446744073709551615"]),
    "decimal": ("DECIMAL(38,10)", ["9999999999999999999999999999.9999999999"]),
    "uuid": ("UUID", ["00112233-4455-6677-8899-aabbccddeeff"]),
    "enum": ("ENUM('GET', 'PUT')", ["GET", "PUT"]),
    "json": ("JSON", ['{"a": [1]}', '"x"', "null"]),
    "bit": ("BIT", ["0101"]),
    "blob": ("BLOB", ["\\x00\\xFF"]),
    "varint": ("BIGNUM", ["123456789012345678901234567890123456789012345678901234567890"]),
    "list_timestamp": ("TIMESTAMP[]", ["[2023-11-14 22:13:20.123456]"]),
    "map": ("MAP(VARCHAR, TIMESTAMP)", ["{a=2023-11-14 22:13:20}"]),
    "struct": ("STRUCT(a BIGINT, b TIMESTAMP)", ["{'a': 1, 'b': 9999-12-31}"]),
}


def write_duckdb():
    rows = max(len(values) for _, values in DUCKDB.values()) + 1

    def literal(value):
        return "NULL" if value is None else "'" + value.replace("'", "''") + "'"

    selects = [
        "SELECT " + ", ".join(f'{literal(padded(values, rows)[row])}::{type_} AS "{name}"' for name, (type_, values) in DUCKDB.items())
        for row in range(rows)
    ]
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    file = str(HERE / "duckdb.parquet")
    connection.execute(f"COPY ({' UNION ALL '.join(selects)}) TO '{file}' (FORMAT parquet)")
    save_names("duckdb", {name: [type_, values] for name, (type_, values) in DUCKDB.items()})


def write_partitions():
    """Writes the files of two sets in partitions, in Base64 by their paths."""
    table = pa.table(
        {
            "n": pa.array([1, 2, 3, 4, 5, 6], pa.int32()),
            "at": pa.array([1700000000123456789 + row for row in range(6)], pa.timestamp("ns")),
            "took": pa.array([1, 2, 3, 4, 5, 6], pa.duration("ms")),
            "day": pa.array([datetime.date(2026, 11, day) for day in (1, 1, 2, 2)] + [None, None], pa.date32()),
            "month": pa.array([1, 1, 2, 2, 11, 11], pa.int8()),
            "region": pa.array(["eu west", "eu west", "a/b=c", "ü%", None, "00501"]),
        }
    )
    written = {}
    with tempfile.TemporaryDirectory() as scratch:
        keys = pa.schema([("day", pa.date32()), ("month", pa.int8()), ("region", pa.string())])
        parts = pa.dataset.partitioning(keys, flavor="hive")
        pa.dataset.write_dataset(table, f"{scratch}/pyarrow", format="parquet", partitioning=parts)
        select = """SELECT n, "at", day, printf('%02d', month) AS month, region FROM "table" """
        duckdb.sql(f"COPY ({select}) TO '{scratch}/duckdb' (FORMAT parquet, PARTITION_BY (day, month, region))")
        for writer in ("pyarrow", "duckdb"):
            top = Path(scratch) / writer
            files = sorted(top.rglob("*.parquet"))
            written[writer] = {
                str(file.relative_to(top)): base64.b64encode(file.read_bytes()).decode() for file in files
            }
    (HERE / "partitions.json").write_text(json.dumps(written, ensure_ascii=False, indent=2) + "\n")


def write_hidden_nan():
    """Writes files whose statistics leave out NaN, in Base64 by their writers: seconds of 2026-03-04, and reals of 64 and 32 bits."""
    reals = [1.0, math.nan, 3.0, 2.0, math.nan, 0.5, -1.5, 7.0]
    table = pa.table(
        {
            "_time": pa.array([1772600000000000000 + row * 10**9 for row in range(8)], pa.timestamp("ns")),
            "n": pa.array(range(8), pa.int64()),
            "x": pa.array(reals, pa.float64()),
            "f": pa.array(reals, pa.float32()),
        }
    )
    written = {}
    with tempfile.TemporaryDirectory() as scratch:
        pq.write_table(table, f"{scratch}/pyarrow.parquet", row_group_size=4)
        pl.from_arrow(table).write_parquet(f"{scratch}/polars.parquet", statistics="full", row_group_size=4)
        for file in sorted(Path(scratch).glob("*.parquet")):
            written[file.stem] = base64.b64encode(file.read_bytes()).decode()
    (HERE.parents[2] / "dataset" / "hidden-nan.json").write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    write_arrow("pyarrow", arrow_columns(), row_group_size=2)
    write_arrow("nested", nested_columns())
    write_arrow("int96", int96_columns(), use_deprecated_int96_timestamps=True)
    write_names()
    large = [decimal.Decimal("1.00"), decimal.Decimal("-1.00")]
    write_arrow("decimal256", {"decimal_50_2": (pa.decimal256(50, 2), large, ["1.00", "-1.00"])})
    write_polars()
    write_duckdb()
    write_partitions()
    write_hidden_nan()

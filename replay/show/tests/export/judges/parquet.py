"""Reads every Parquet file of a directory with pyarrow, pandas, Polars and DuckDB, which must agree."""
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.parquet

folder, texts = Path(sys.argv[1]), sys.argv[2:]
files = sorted(folder.glob("*.parquet"))
assert {"severities", "metrics", "cnodes", "timeline", "instances", "calls", "summary"} <= {it.stem for it in files}
for file in files:
    table = pyarrow.parquet.read_table(file)
    metadata = pyarrow.parquet.read_metadata(file).metadata
    assert metadata[b"replay.schema"] == b"replay-show.export/1" and metadata[b"ticks_per_second"] == b"2000000000"
    frame, lazy = pandas.read_parquet(file), polars.read_parquet(file)
    rows = duckdb.execute("SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
    assert len(frame) == lazy.height == len(rows) == table.num_rows, file
    assert list(frame.columns) == lazy.columns == table.column_names, file
    assert table.to_pylist() == lazy.to_dicts() == [dict(zip(table.column_names, row)) for row in rows], file
    if table.num_rows:
        for at, column in enumerate(table.schema):
            if str(column.type) == "string":
                encodings = pyarrow.parquet.read_metadata(file).row_group(0).column(at).encodings
                assert "RLE_DICTIONARY" in encodings or "PLAIN_DICTIONARY" in encodings, (file, column.name, encodings)

severities = polars.read_parquet(folder / "severities.parquet").join(
    polars.read_parquet(folder / "metrics.parquet"), on="metric"
)
time = severities.filter(polars.col("name") == "time")
assert abs(time["value"].sum() - 2.3100001) < 1e-9, time
main = time.filter(polars.col("cnode") == 0)
assert abs(main["inclusive"].sum() - time["value"].sum()) < 1e-9
instance = polars.read_parquet(folder / "instances.parquet").to_dicts()[0]
assert instance["ticks"] == 300 and instance["seconds"] == 1.5e-7 and instance["members"] is None, instance
assert all(text in instance["path"] for text in texts), "names are as they are"

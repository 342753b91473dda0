"""Reads events and tables with pandas, and looks at what Pipit would look at."""
import sys
from pathlib import Path

import pandas

events = pandas.read_csv(sys.argv[1], skipinitialspace=True)
assert list(events.columns) == ["Timestamp (ns)", "Event Type", "Name", "Process", "Thread"]
assert events["Timestamp (ns)"].is_monotonic_increasing and events["Name"].notna().all()
for _, rows in events.groupby(["Process", "Thread"]):
    stack = []
    for row in rows.itertuples():
        if row[2] == "Enter":
            stack.append(row.Name)
        else:
            assert stack.pop() == row.Name
    assert not stack
tables = {file.stem: pandas.read_csv(file) for file in Path(sys.argv[2]).glob("*.csv")}
assert len(tables["instances"]) == 1 and tables["instances"]["ticks"][0] == 300
metrics, severities = tables["metrics"], tables["severities"]
time = severities[severities.metric == metrics.metric[metrics.name == "time"].iloc[0]]
assert abs(time.value.sum() - 2.3100001) < 1e-9
assert tables["timeline"].ticks.sum() == 4600 and tables["timeline"].seconds.notna().all()
for name, table in tables.items():
    for column in table.select_dtypes(exclude="number"):
        assert not table[column].dropna().astype(str).str.match(r"[=+\-@]").any(), (name, column)

"""Makes a GraphFrame of a list of trees, and sums up its times."""
import json
import sys

import hatchet

trees = json.load(open(sys.argv[1]))
frame = hatchet.GraphFrame.from_literal(trees)
assert len(frame.dataframe) == 4, frame.dataframe
assert abs(frame.dataframe["time"].sum() - 2.3100001) < 1e-9
root = frame.graph.roots[0]
assert abs(frame.dataframe.loc[root, "time (inc)"] - 2.3100001) < 1e-9
assert "time" in frame.exc_metrics and "time (inc)" in frame.inc_metrics, (frame.exc_metrics, frame.inc_metrics)
assert "MPI_Recv" in set(frame.dataframe["name"])
assert "MPI_Recv" in frame.tree()

"""Reads a report with details by hatchet 1.4.1, which knows .cubex files."""
import sys

import hatchet

frame = hatchet.GraphFrame.from_scorep(sys.argv[1]).dataframe
assert "MPI_Recv" in set(frame["name"]), frame
assert abs(frame["time"].sum() - 2.3100001) < 1e-9, frame["time"]

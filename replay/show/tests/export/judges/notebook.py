"""Runs the code of docs/notebook.md in the directory of a report's Parquet files."""
import os
import sys

code = open(sys.argv[1]).read()
os.chdir(sys.argv[2])
exec(compile(code, "docs/notebook.md", "exec"), {"__name__": "__main__"})

"""Each rank writes a file of its own and reads a part of it, by Python's own files and without buffers."""
from mpi4py import MPI

name = f"data.{MPI.COMM_WORLD.rank}"
with open(name, "wb") as file:
    file.write(b"x" * 100_000)
with open(name, "rb", buffering=0) as file:
    file.seek(10)
    assert len(file.read(1000)) == 1000

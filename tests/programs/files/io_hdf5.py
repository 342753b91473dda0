"""All ranks write a data set of 8 MiB for each of them together, through HDF5; with another argument than hdf5, by MPI-IO."""
import sys

from mpi4py import MPI

PART = 1 << 20  # doubles
world = MPI.COMM_WORLD
name = "data.out"
if sys.argv[1] == "hdf5":
    import h5py
    import numpy

    data = numpy.full(PART, world.rank, dtype="f8")
    with h5py.File(name, "w", driver="mpio", comm=world) as file:
        made = file.create_dataset("all", (world.size * PART,), dtype="f8")
        with made.collective:
            made[world.rank * PART:(world.rank + 1) * PART] = data
else:
    part = bytearray(8 * PART)
    file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Write_at_all(world.rank * len(part), part)
    file.Close()

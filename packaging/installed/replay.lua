-- Module file for Lmod.
help([[
Replay finds out where the ranks of an MPI program waited for each other, and why.
Begin with: man replay
]])
whatis("Name: Replay")
whatis("Version: @VERSION@")
whatis("Description: wait states of MPI programs and their causes")

local root = "@PREFIX@"

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
-- Without an empty entry the system's own pages would be gone.
append_path("MANPATH", "")
prepend_path("CMAKE_PREFIX_PATH", root)
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "@LIBDIR@/pkgconfig"))
prepend_path("PYTHONPATH", pathJoin(root, "include/replay"))
setenv("REPLAY_ROOT", root)

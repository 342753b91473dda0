-- Module file for Lmod: Replay by the names of Scalasca's commands.
help([[
Scripts that call scan, scalasca, square and skin of Scalasca run with Replay.
Begin with: man replay-scan
]])
whatis("Name: Replay by Scalasca's names")
whatis("Version: @VERSION@")
whatis("Description: scan, scalasca, square and skin of Replay")

-- Both have these names.
conflict("scalasca", "Scalasca")

local root = "@PREFIX@"

-- Alone, too, so that a job script has to load one module in the place of another.
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("PATH", pathJoin(root, "libexec/replay"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
-- Without an empty entry the system's own pages would be gone.
append_path("MANPATH", "")

#%Module
# Module file for Environment Modules: Replay by the names of Scalasca's commands.

proc ModulesHelp { } {
    puts stderr "Scripts that call scan, scalasca, square and skin of Scalasca run with Replay."
    puts stderr "Begin with: man replay-scan"
}
module-whatis "Replay @VERSION@ by Scalasca's names: scan, scalasca, square and skin"

# Both have these names.
conflict scalasca Scalasca

set root "@PREFIX@"

# Alone, too, so that a job script has to load one module in the place of another.
prepend-path PATH $root/bin
prepend-path PATH $root/libexec/replay
prepend-path MANPATH $root/share/man
# Without an empty entry the system's own pages would be gone.
append-path MANPATH ""

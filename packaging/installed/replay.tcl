#%Module
# Module file for Environment Modules.

proc ModulesHelp { } {
    puts stderr "Replay finds out where the ranks of an MPI program waited for each other, and why."
    puts stderr "Begin with: man replay"
}
module-whatis "Replay @VERSION@: wait states of MPI programs and their causes"

set root "@PREFIX@"

prepend-path PATH $root/bin
prepend-path MANPATH $root/share/man
# Without an empty entry the system's own pages would be gone.
append-path MANPATH ""
prepend-path CMAKE_PREFIX_PATH $root
prepend-path PKG_CONFIG_PATH $root/@LIBDIR@/pkgconfig
prepend-path PYTHONPATH $root/include/replay
setenv REPLAY_ROOT $root

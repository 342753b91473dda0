# To be read by a POSIX shell in the project's directory (. tools/environment.sh): what cargo, the demonstration and the
# tests need to know of the MPI that MPICC names, if there is one. Keeps what the user has set.
#
#   REPLAY_FEATURES    what to give to cargo: nothing, or without MPI as below
#   REPLAY_OPENS_MPI   what to give to cargo for an analyzer that is built without MPI, and opens that of its launcher
#   REPLAY_MPIRUN      the launcher of that MPI; empty without MPI
#   REPLAY_PYTHON      a Python with the readers that judge what we write, if make test has installed them
#   REPLAY_MPI4PY      a Python with mpi4py, likewise
#   CARGO_TARGET_DIR   one for each MPI, because the bindings to MPI do not notice that MPICC has changed
# shellcheck shell=sh

MPICC=${MPICC:-mpicc}
export MPICC

# What was set here for another compiler, in a shell that has read this file, is not what the user has set.
if [ -n "${REPLAY_SET_FOR:-}" ] && [ "$REPLAY_SET_FOR" != "$MPICC" ]; then
    [ "${CARGO_TARGET_DIR:-}" != "$REPLAY_SET_TARGET" ] || unset CARGO_TARGET_DIR
    [ "${REPLAY_MPIRUN-}" != "$REPLAY_SET_MPIRUN" ] || unset REPLAY_MPIRUN
fi

has() { command -v "$1" >/dev/null 2>&1; }

# Whether the compiler is there, and the header with it: Debian's openmpi-bin has the compiler alone.
has_mpi() { has "$MPICC" && echo '#include <mpi.h>' | "$MPICC" -E -x c - >/dev/null 2>&1; }

# Whether there is a library that bindgen will find. LLVM alone comes with libclang-cpp, which is another one.
has_libclang() {
    for directory in "${LIBCLANG_PATH:-/nowhere}" /usr/lib/llvm*/lib /usr/lib* /usr/lib*/* \
        /usr/local/lib* /usr/local/llvm*/lib*; do
        for library in "$directory"/libclang.so* "$directory"/libclang-[0-9]*.so*; do
            [ -e "$library" ] && return
        done
    done
    return 1
}

# nompi, or which MPI the compiler is of. Only Open MPI's compilers know --showme:version, and most others -show.
mpi_flavour() {
    if ! has_mpi || ! has_libclang; then
        echo nompi
        return
    fi
    case $("$MPICC" --showme:version 2>/dev/null || "$MPICC" -show 2>/dev/null) in
        *"Open MPI 4"*) echo ompi4 ;;
        *"Open MPI"*) echo ompi ;;
        *mpich*) echo mpich ;;
        *) basename "$MPICC" | tr -c 'A-Za-z0-9_.\n' _ ;;
    esac
}

# The launcher stands beside the compiler: mpicc and mpirun, mpicc.mpich and mpirun.mpich. Or it is simply mpirun.
mpi_launcher() {
    launcher=$(printf '%s\n' "$MPICC" | sed 's/mpicc\([^/]*\)$/mpirun\1/')
    if [ "$launcher" != "$MPICC" ] && has "$launcher"; then
        echo "$launcher"
    elif has mpirun; then
        echo mpirun
    fi
}

REPLAY_OPENS_MPI='--no-default-features --features mpi-dlopen,show/default'
export REPLAY_OPENS_MPI
flavour=$(mpi_flavour)
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/${flavour%4}}
export CARGO_TARGET_DIR
if [ "$flavour" = nompi ]; then
    REPLAY_FEATURES=$REPLAY_OPENS_MPI
    REPLAY_MPIRUN=
else
    REPLAY_FEATURES=
    REPLAY_MPIRUN=${REPLAY_MPIRUN-$(mpi_launcher)}
fi
export REPLAY_FEATURES REPLAY_MPIRUN
export REPLAY_SET_FOR="$MPICC" REPLAY_SET_TARGET="target/${flavour%4}" REPLAY_SET_MPIRUN="$REPLAY_MPIRUN"

# libclang without the clang program does not know where stddef.h is; the C compiler has one.
if [ -z "${BINDGEN_EXTRA_CLANG_ARGS:-}" ] && has "${CC:-cc}"; then
    BINDGEN_EXTRA_CLANG_ARGS=-I$("${CC:-cc}" -print-file-name=include)
    export BINDGEN_EXTRA_CLANG_ARGS
fi

# More processes than cores, on one machine, without a network; also in containers, and as root there.
case $flavour in
    ompi*)
        export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
        if [ "$flavour" = ompi4 ]; then
            export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
        else
            export OMPI_MCA_btl=self,sm OMPI_MCA_btl_sm_single_copy_mechanism=none
        fi
        if [ "$(id -u)" = 0 ]; then
            export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        fi
        ;;
esac

if [ -z "${REPLAY_PYTHON:-}" ] && [ -x target/judges/bin/python ]; then
    REPLAY_PYTHON=$PWD/target/judges/bin/python
    export REPLAY_PYTHON
fi

# The wheel of mpi4py is for all MPI libraries: it has to be told which, and finds MPICH by a name that Debian's lacks.
if [ -z "${REPLAY_MPI4PY:-}" ] && [ -x target/judges/bin/python ]; then
    REPLAY_MPI4PY=$PWD/target/judges/bin/python
    export REPLAY_MPI4PY
    case $flavour in
        ompi*) export MPI4PY_MPIABI=openmpi ;;
        mpich)
            export MPI4PY_MPIABI=mpich
            export LD_LIBRARY_PATH="$PWD/target/judges/mpich${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
            ;;
    esac
fi

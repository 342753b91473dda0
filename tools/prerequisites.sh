#!/bin/sh
# Installs what a build or the tests need and this machine lacks: as root on Debian with apt-get; elsewhere it says what
# to install. Never fails for want of MPI or of a judge: what is missing is left out, and said.
#
#   tools/prerequisites.sh build     Rust is there? MPI, and libclang for the bindings to it
#   tools/prerequisites.sh test      the same, rustfmt and clippy, and programs that judge what we write
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh
judges=target/judges

say() { printf '%s\n' "$*" >&2; }
may_install() { [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && has apt-get; }

# install PACKAGE…: answers whether they are installed now.
install() {
    may_install || return 1
    if [ -z "${lists_are_fresh:-}" ]; then
        apt-get update -q >&2 || true
        lists_are_fresh=yes
    fi
    say "Installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}

# The library and the headers that it needs take 50 MB; libclang-dev, which names no version, would take 240 MB.
install_libclang() {
    may_install || return 1
    version=$(apt-cache depends libclang-dev 2>/dev/null |
        sed -n 's/.*Depends: libclang-\([0-9][0-9]*\)-dev.*/\1/p' | head -n 1)
    if [ -n "$version" ] && install "libclang1-$version" "libclang-common-$version-dev"; then
        return
    fi
    install libclang-dev
}

need_rust() {
    has cargo && return
    version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
    say "Cargo is missing: install Rust $version or newer, for example from https://rustup.rs"
    exit 1
}

need_mpi() {
    case $MPICC in
        mpicc | mpicc.openmpi) packages="libopenmpi-dev openmpi-bin" ;;
        mpicc.mpich) packages="libmpich-dev mpich" ;;
        *) packages= ;;
    esac
    if has_mpi && [ -n "$(mpi_launcher)" ]; then
        return
    fi
    # shellcheck disable=SC2086 # several packages
    if [ -n "$packages" ] && install $packages; then
        return
    fi
    say "MPI is missing (MPICC=$MPICC): going on without it; the analyzer will open the library of the MPI whose launcher starts it."
    if [ -n "$packages" ]; then
        say "To have it, install the packages $packages (their names on Debian)."
    fi
}

need_libclang() {
    if ! has_mpi || has_libclang || install_libclang; then
        return
    fi
    say "libclang is missing, which generates the bindings to MPI: going on without them; the analyzer will open the library of the MPI"
    say "whose launcher starts it. To have them, install the package libclang-dev (its name on Debian)."
}

need_rust_tools() {
    for tool in rustfmt clippy; do
        cargo "${tool#rust}" --version >/dev/null 2>&1 && continue
        if ! has rustup || ! rustup component add "$tool" >&2; then
            say "skipped: $tool is missing, and with it a check of the sources"
        fi
    done
}

need_judges() {
    if ! has otf2-print && ! install otf2-tools; then
        say "otf2-print is missing: tests with it will be skipped (Debian: otf2-tools)"
    fi
    if [ -n "${REPLAY_PYTHON:-}" ] && [ "$REPLAY_PYTHON" != "$PWD/$judges/bin/python" ]; then
        return # the user's own
    fi
    if ! [ -x $judges/bin/pip ]; then
        if ! python3 -c 'import ensurepip, venv' 2>/dev/null && ! install python3 python3-venv; then
            say "Python's venv is missing: tests with Python's readers will be skipped (Debian: python3-venv)"
            return
        fi
        rm -rf $judges
        mkdir -p target
        python3 -m venv $judges >&2 || return 0
    fi
    for package in otf2 pycubexr mpi4py jsonschema; do
        $judges/bin/python -c "import $package" 2>/dev/null && continue
        $judges/bin/pip install -q --disable-pip-version-check "$package" >&2 ||
            say "PyPI's $package cannot be installed: tests with it will be skipped"
    done
    # mpi4py looks for MPICH by the name that its makers have agreed on with others; Debian's has its own only.
    library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | sed -n 's/.*libmpich\.so\.12 .*=> //p' | head -n 1)
    if [ -n "$library" ] && ! [ -e $judges/mpich/libmpi.so.12 ]; then
        mkdir -p $judges/mpich
        ln -sf "$library" $judges/mpich/libmpi.so.12
    fi
}

# Readers of exports, each in an environment of its own: they want different versions of others. With node, also speedscope
# and what drives a browser.
need_judges_of_exports() {
    place=target/judges-exports
    python3 -c 'import ensurepip, venv' 2>/dev/null || return 0 # need_judges has said so
    mkdir -p $place
    while read -r name packages; do
        [ -e "$place/$name/installed" ] && continue
        # shellcheck disable=SC2086 # several packages
        if python3 -m venv "$place/$name" >&2 &&
            "$place/$name/bin/pip" install -q --disable-pip-version-check $packages >&2; then
            : >"$place/$name/installed"
        else
            say "PyPI's $packages cannot be installed: tests of exports with them will be skipped"
        fi
    done <<'END'
data pandas polars pyarrow duckdb jsonschema perfetto xmlschema
hatchet hatchet==1.4.1
llnl-hatchet llnl-hatchet
extrap extrap
END
    if has npm && ! [ -e $place/node/node_modules/speedscope ]; then
        npm install --silent --no-save --prefix $place/node speedscope@1.25.0 playwright-core@1.65.1 >&2 ||
            say "npm's speedscope cannot be installed: exports will not be loaded in a browser"
    fi
    if [ -e $place/node/node_modules/speedscope ] && ! has chromium && ! install chromium; then
        say "Chromium is missing: exports will not be loaded in a browser (Debian: chromium)"
    fi
}

# What makes the bundle of the page again, and tests it in browsers.
need_judges_of_page() {
    page=replay/show/page
    has npm || install nodejs npm || true
    if ! has npm; then
        say "npm is missing: the page will not be tested in browsers (Debian: nodejs, npm)"
        return
    fi
    if ! cmp -s $page/package-lock.json $page/node_modules/.replay-lock; then
        if npm ci --silent --prefix $page >&2; then
            cp $page/package-lock.json $page/node_modules/.replay-lock
        else
            say "npm's packages of the page cannot be installed: it will not be tested in browsers"
            return
        fi
    fi
    has chromium || install chromium || say "Chromium is missing: the page will not be tested in it (Debian: chromium)"
    has firefox-esr || install firefox-esr ||
        say "Firefox is missing: the page will not be tested in it (Debian: firefox-esr)"
}

# Of the programs that are recorded some are in C++ and Fortran.
need_compilers() {
    has_mpi || return 0
    for compiler in g++ gfortran; do
        has $compiler || install $compiler ||
            say "$compiler is missing: programs that need it will not be recorded (Debian: $compiler)"
    done
}

# A Slurm that is configured here is left alone. Its daemons do not start without a configuration; only munged does, where
# systemd runs.
need_slurm() {
    if has slurmctld || [ -x /usr/sbin/slurmctld ] || [ -e /etc/slurm/slurm.conf ]; then
        return
    fi
    has_mpi || return 0
    install slurm-wlm slurm-wlm-basic-plugins munge ||
        say "Slurm is missing: job scripts will not be run (Debian: slurm-wlm, slurm-wlm-basic-plugins, munge)"
}

need_shellcheck() {
    has shellcheck || install shellcheck ||
        say "shellcheck is missing: job scripts will not be checked with it (Debian: shellcheck)"
}

need_rust
need_mpi
need_libclang
if [ "${1:-build}" = test ]; then
    need_rust_tools
    need_compilers
    need_judges
    need_judges_of_exports
    need_judges_of_page
    need_slurm
    need_shellcheck
fi

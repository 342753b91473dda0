#!/bin/sh
# make install: puts what is built below a directory. Builds only what is not built, or not from the sources as they are, so that
# another user can install who has no cargo (sudo make install). Where there are no sources, in what make dist-binary has made, it
# puts there the programs that are in it.
#
#   tools/install.sh PREFIX    in front of which DESTDIR stands, if it is set; LIBDIR is where libraries are, below PREFIX [lib]
set -eu
case ${1:-} in
    '' | -*)
        echo "usage: tools/install.sh PREFIX    the directory to install to, such as /opt/replay" >&2
        exit 1
        ;;
esac
prefix=$(realpath -ms "$1")
case $prefix in
    *[[:space:]:]*)
        # It stands in LD_PRELOAD.
        echo "make install: $prefix: the recorder's path must not contain spaces or colons: choose another directory" >&2
        exit 1
        ;;
esac
place=$(realpath -ms "${DESTDIR:-}$prefix")
cd "$(dirname "$0")/.."
libdir=${LIBDIR:-lib}
# What tools/uninstall.sh removes.
list=share/replay/installed-files

if [ -e Cargo.toml ]; then
    # shellcheck source=tools/environment.sh
    . tools/environment.sh

    # Whether a directory has programs that no source is newer than. make build leaves the stamp, as cargo leaves programs alone
    # that do not change.
    is_built() {
        [ -e "$1/release/built" ] && [ -z "$(find . \( -name target -o -name node_modules -o -name .git \) -prune -o -type f \
            \( -name '*.rs' -o -name '*.toml' -o -name Cargo.lock -o -name '*.c' -o -name '*.sh' -o -path './replay/show/*' \) \
            -newer "$1/release/built" -print | head -n 1)" ]
    }

    if ! is_built "$CARGO_TARGET_DIR"; then
        # Another user may find no MPI, or another one: then it is what was built last.
        last=$(cat target/built 2>/dev/null || :)
        if has cargo; then
            "${MAKE:-make}" --no-print-directory build
        elif [ -n "$last" ] && is_built "$last"; then
            CARGO_TARGET_DIR=$last
        else
            echo "make install: not built, or sources are newer, and there is no cargo to build with: run make build as a user who has it" >&2
            exit 1
        fi
    fi
    release=$CARGO_TARGET_DIR/release
    static=$CARGO_TARGET_DIR/static/release/libreplay_recorder.a
else
    release=programs
    static=
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022

# put MODE DIRECTORY FILE…: below the prefix
put() {
    mode=$1 into=$stage/$2
    shift 2
    install -D -m "$mode" -t "$into" "$@"
}

# fill DIRECTORY FILE…: likewise, with what is known only now
version=$(tools/version.sh)
quoted=$(printf '%s' "$prefix" | sed 's/[|&\\]/\\&/g')
fill() {
    put 644 "$@"
    shift
    for file in "$@"; do
        sed -i "s|@PREFIX@|$quoted|g; s|@LIBDIR@|$libdir|g; s|@VERSION@|$version|g" "$into/${file##*/}"
    done
}

put 755 bin "$release/replay-analyze" "$release/replay-import" "$release/replay-record" "$release/replay-scan" "$release/replay-show"
# Names of Scalasca's commands; not on the path, where those of Scalasca may be.
links=$stage/libexec/replay
mkdir -p "$links"
ln -s ../../bin/replay-analyze "$links/scout.replay"
for name in scan scalasca square skin; do
    ln -s ../../bin/replay-scan "$links/$name"
done
put 644 "$libdir/replay" "$release/libreplay_recorder.so" "$release/libreplay_io.so"
if [ -e "$static" ]; then
    put 644 "$libdir/replay" "$static"
fi
put 644 include/replay measurement/include/*
fill "$libdir/pkgconfig" packaging/installed/replay.pc
fill "$libdir/cmake/Replay" packaging/installed/*.cmake

"$release/replay-analyze" --manual "$stage/share"
"$release/replay-import" --manual "$stage/share"
"$release/replay-record" --manual "$stage/share"
"$release/replay-scan" --manual "$stage/share"
"$release/replay-show" manual "$stage/share"
fill share/man/man5 manual/pages/*.5
fill share/man/man7 manual/pages/*.7

put 755 share/replay/jobscripts jobscripts/*.sh
put 644 share/replay/jobscripts jobscripts/README.md
put 644 share/replay/schemas docs/schemas/*
put 644 share/replay/tutorial tests/programs/tutorial/*.c
# The traces of examples.
for archive in imbalance_chain.4 io.4 nxn.4; do
    put 644 share/replay/archives/$archive tests/archives/$archive/traces.otf2 tests/archives/$archive/traces.def
    put 644 share/replay/archives/$archive/traces tests/archives/$archive/traces/*
done
# Only an example: a site's own one, in etc, is its own.
fill share/replay packaging/installed/replay.conf
# What is in /usr is found without a module.
[ "$prefix" = /usr ] || fill share/replay/modules packaging/installed/replay*.lua packaging/installed/replay*.tcl

doc=share/doc/replay
put 644 $doc README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$release/THIRD-PARTY"
put 644 $doc/docs docs/*.md docs/*.png
# What documents refer to.
put 644 $doc/benches/records benches/records/*.md
put 644 $doc/replay/advice/rules replay/advice/rules/*.toml
put 644 $doc/replay/advice/rules/examples replay/advice/rules/examples/*.toml
# If make book has made it.
if [ -e target/book/index.html ]; then
    mkdir -p "$stage/$doc"
    cp -r target/book "$stage/$doc/html"
fi
# If make sbom has made them.
if [ -e target/sbom/replay-analyze.cdx.json ]; then
    put 644 $doc/sbom target/sbom/*.cdx.json
fi
# Where the documents look for them.
ln -s ../../../replay/schemas "$stage/$doc/docs/schemas"
ln -s ../../replay/jobscripts "$stage/$doc/jobscripts"

# What an earlier version has left behind would stay for ever.
if [ -e "$place/$list" ]; then
    tools/uninstall.sh "$place"
fi
files=$(cd "$stage" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
# A package has a list of its own.
if [ -z "${DESTDIR:-}" ]; then
    mkdir -p "$stage/${list%/*}"
    {
        [ -d "$place" ] || echo ./
        (cd "$stage" && find . -mindepth 1 -type d -printf '%P/\n') | sort | while read -r directory; do
            [ -d "$place/$directory" ] || echo "$directory"
        done
        echo "$files"
        echo "$list"
    } >"$stage/$list"
    files="$files
$list"
fi
mkdir -p "$place"
cd "$stage"
echo "$files" | xargs -d '\n' cp --parents --no-dereference --remove-destination -t "$place"

#!/bin/sh
# make install: puts what is built below a directory. Builds only what is not built, or not from the sources as they are, so that
# another user can install who has no cargo (sudo make install).
#
#   tools/install.sh PREFIX    in front of which DESTDIR stands, if it is set
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh
place=${DESTDIR:-}$1

# Whether a directory has programs that no source is newer than. make build leaves the stamp, as cargo leaves programs alone that do
# not change.
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
install -D -m 755 -t "$place/bin" "$release/replay-analyze" "$release/replay-record" "$release/replay-show"
"$release/replay-analyze" --manual "$place/share"
"$release/replay-record" --manual "$place/share"
"$release/replay-show" manual "$place/share"
install -D -m 644 -t "$place/lib/replay" "$release/libreplay_recorder.so" "$release/libreplay_io.so"
library=$CARGO_TARGET_DIR/static/release/libreplay_recorder.a
if [ -e "$library" ]; then
    install -D -m 644 -t "$place/lib/replay" "$library"
fi
install -D -m 644 -t "$place/include/replay" measurement/include/*
install -D -m 755 -t "$place/share/replay/jobscripts" jobscripts/*.sh
install -D -m 644 -t "$place/share/replay/jobscripts" jobscripts/README.md
install -D -m 644 -t "$place/share/replay/tutorial" tests/programs/tutorial/*.c
# If make book has made it.
if [ -e target/book/index.html ]; then
    rm -rf "$place/share/doc/replay/html"
    mkdir -p "$place/share/doc/replay"
    cp -r target/book "$place/share/doc/replay/html"
fi

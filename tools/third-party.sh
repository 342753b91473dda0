#!/bin/sh
# Prints the names and licences of what others have written and the programs contain.
#
#   CARGO_FLAGS=FLAGS tools/third-party.sh FEATURES
set -eu
cd "$(dirname "$0")/.."

cat <<'END'
The programs and libraries of Replay contain, beside its own code:

Rust's standard library: MIT OR Apache-2.0
jemalloc: BSD-2-Clause
END
# Those of the project have a path.
# shellcheck disable=SC2086 # several words, or none
cargo tree $CARGO_FLAGS -p replay -p launcher -p recorder -p posix_io -p show -p replay-scan -p import --edges normal,no-proc-macro --prefix none \
    --format '{p}: {l}' "$@" | sed '/ (\//d; /^$/d; s/ (\*)$//' | sort -u

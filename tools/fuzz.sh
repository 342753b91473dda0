#!/bin/sh
# Builds the fuzz targets with the stable compiler and runs each for some time; see fuzz/README.md.
#
#   tools/fuzz.sh run SECONDS TARGET…   new inputs and findings go to target/fuzz only
#   tools/fuzz.sh merge TARGET…         puts the inputs that reach something new into fuzz/corpus
#   tools/fuzz.sh again TARGET FILE…    runs these inputs, such as findings, once
set -eu
cd "$(dirname "$0")/.."

case ${1:-} in
    run | merge | again) ;;
    *)
        sed -n 's/^#   //p' tools/fuzz.sh >&2
        exit 2
        ;;
esac
if ! command -v "${CXX:-c++}" >/dev/null 2>&1; then
    echo "A C++ compiler is missing, which builds libFuzzer: install one, on Debian the package g++" >&2
    exit 1
fi

# In memory if possible: some targets write a few files for each input.
shared=/dev/shm
[ -w $shared ] || shared=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$shared/replay-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' HUP INT TERM

# What cargo-fuzz uses without a sanitizer: libFuzzer learns which branches an input takes and what it is compared with.
# A target triple keeps these flags away from build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
flags='--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4'
flags="$flags -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
flags="$flags -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
work=target/fuzz
# shellcheck disable=SC2086 # several arguments
RUSTFLAGS=$flags CARGO_TARGET_DIR=$work cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" \
    --locked ${CARGO_FLAGS:-}
programs=$work/$host/release

# Single allocations are limited by fuzz/src/lib.rs: libFuzzer's own limit needs a sanitizer.
limits='-timeout=10 -rss_limit_mb=2048'
# An archive's definitions take 12 KB, most other files less than 2 KB.
longest() {
    case $1 in
        anchor) echo 512 ;;
        local_definitions) echo 2048 ;;
        events | command_line) echo 4096 ;;
        *) echo 16384 ;;
    esac
}

# libFuzzer writes new inputs into the first folder and reads all of them.
run() {
    corpus=$work/corpus/$1
    findings=$work/findings/$1
    mkdir -p "$corpus" "$findings"
    echo "== $1, $seconds seconds"
    # shellcheck disable=SC2086
    "$programs/$1" $limits -max_len="$(longest "$1")" -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="$findings/" "$corpus" "fuzz/corpus/$1" 2>"$work/$1.log" || return 1
    sed -n 's|^#\([0-9]*\).*DONE *cov: \([0-9]*\) .* corp: \([0-9]*\)/.*|\1 inputs; \2 branches, reached by \3 of them|p' \
        "$work/$1.log"
}

merge() {
    merged=$work/merged/$1
    rm -rf "$merged"
    mkdir -p "$merged" "$work/corpus/$1"
    # By branches alone, not by how often each is taken: a tenth of the inputs will do.
    # shellcheck disable=SC2086
    "$programs/$1" $limits -max_len="$(longest "$1")" -set_cover_merge=1 -use_counters=0 "$merged" "fuzz/corpus/$1" "$work/corpus/$1" \
        2>"$work/$1.merge.log"
    mkdir -p "fuzz/corpus/$1"
    find "fuzz/corpus/$1" -type f -delete
    cp "$merged"/* "fuzz/corpus/$1"
    echo "$1: $(find "fuzz/corpus/$1" -type f | wc -l) inputs"
}

command=$1
shift
case $command in
    run)
        seconds=$1
        shift
        failed=
        for target; do
            if ! run "$target"; then
                failed="$failed $target"
                tail -n 40 "$work/$target.log" >&2
            fi
        done
        if [ -n "$failed" ]; then
            echo "Findings:$failed; the inputs are in $work/findings" >&2
            exit 1
        fi
        ;;
    merge) for target; do merge "$target"; done ;;
    again)
        target=$1
        shift
        # shellcheck disable=SC2086
        "$programs/$target" $limits "$@"
        ;;
esac

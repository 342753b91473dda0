#!/bin/sh
# Which lines of formats/otf2 and formats/cubex their own tests reach: those in the files and those in formats/*/tests.
# Prints a table of files and crates; fails if a crate is below 90 %, or a file below 80 %.
#
# Lines of tests do not count: no file of tests/, and nothing behind #[cfg(test)], with which the tests of a file begin.
# What a macro makes counts where the macro is written.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/environment.sh
. tools/environment.sh

if ! cargo llvm-cov --version >/dev/null 2>&1 ||
    ! [ -x "${LLVM_COV:-$(rustc --print target-libdir)/../bin/llvm-cov}" ]; then
    echo "cargo-llvm-cov is missing: cargo install cargo-llvm-cov, rustup component add llvm-tools" >&2
    exit 1
fi

lines=$CARGO_TARGET_DIR/coverage.lcov
# shellcheck disable=SC2086 # several arguments
cargo llvm-cov ${CARGO_FLAGS:-} -p otf2 -p cubex --ignore-filename-regex '/(tests|examples|model)/' \
    --lcov --output-path "$lines"

echo
LC_ALL=C awk -F '[:,]' '
    function begin_of_tests(file, line, number) {
        while ((getline line < file) > 0 && line != "#[cfg(test)]") number++
        close(file)
        return line == "#[cfg(test)]" ? number + 1 : 1e9
    }
    function row(name, lines, missed, least, share) {
        share = 100 * (lines - missed) / lines
        low = share < least
        failed = failed || low
        printf "%-36s %6d %6d %7.1f %%%s\n", name, lines, missed, share, low ? " below " least " %" : ""
    }
    BEGIN { printf "%-36s %6s %6s %9s\n", "file", "lines", "missed", "covered" }
    /^SF:/ {
        name = substr($0, 4)
        tests = begin_of_tests(name)
        sub(".*/formats/", "", name)
        lines = missed = 0
    }
    /^DA:/ && $2 < tests { lines++; missed += $3 == 0 }
    /^end_of_record/ && lines {
        row(name, lines, missed, 80)
        crate = name
        sub("/.*", "", crate)
        all[crate] += lines
        all_missed[crate] += missed
    }
    END {
        print ""
        row("otf2", all["otf2"], all_missed["otf2"], 90)
        row("cubex", all["cubex"], all_missed["cubex"], 90)
        exit failed
    }' "$lines"

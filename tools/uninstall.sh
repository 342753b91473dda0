#!/bin/sh
# make uninstall: removes what make install has put below a directory, and the directories that it has made.
#
#   tools/uninstall.sh PREFIX
set -eu
cd "$(dirname "$0")/.."

list=share/replay/installed-files
if ! [ -e "$1/$list" ]; then
    echo "make uninstall: there is no $1/$list: make install has put nothing there" >&2
    exit 1
fi
cd "$1"
# Directories end with a slash. Others may have put something there since.
entries=$(LC_ALL=C sort -r $list)
echo "$entries" | grep -v '/$' | xargs -d '\n' rm -f
echo "$entries" | grep '/$' | xargs -r -d '\n' rmdir --ignore-fail-on-non-empty

#!/bin/sh
# make uninstall: removes what make install has put below a directory, and the directories that it has made.
#
#   tools/uninstall.sh PREFIX
set -eu
case ${1:-} in
    '' | -*)
        echo "usage: tools/uninstall.sh PREFIX    the directory that was given to make install" >&2
        exit 1
        ;;
esac
prefix=$(realpath -ms "$1")
list=share/replay/installed-files
if ! [ -e "$prefix/$list" ]; then
    echo "make uninstall: there is no $prefix/$list: make install has put nothing there" >&2
    exit 1
fi
cd "$prefix"
# Directories end with a slash. Others may have put something there since.
entries=$(LC_ALL=C sort -r $list)
echo "$entries" | grep -v '/$' | xargs -d '\n' rm -f
echo "$entries" | grep '/$' | grep -vx './' | xargs -r -d '\n' rmdir --ignore-fail-on-non-empty
# The directory itself.
if echo "$entries" | grep -qx './'; then
    cd /
    rmdir --ignore-fail-on-non-empty "$prefix"
fi

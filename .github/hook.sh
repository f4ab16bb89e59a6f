#!/bin/sh
# Runs ctxsim as a hook of pre-commit: the one on the PATH, else the pinned release, which is downloaded once and checked (or, until there is one,
# its own checkout, which is built once).
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
# The verb is the hook's. Options come first, from the settings of whoever installs the hook; then files of the repository, none of which can
# be taken for an option.
case "${1:-}" in
    check | validate) ;;
    *)
        echo "hook.sh runs check or validate" >&2
        exit 2
        ;;
esac
given=$#
ended=false
for word; do
    case "$word" in
        check | validate) ;;
        -*) [ ! -e "$word" ] || [ "$ended" = true ] || { set -- "$@" -- && ended=true; } ;;
        *) [ "$ended" = true ] || { set -- "$@" -- && ended=true; } ;;
    esac
    set -- "$@" "$word"
done
shift "$given"
if command -v ctxsim > /dev/null; then
    exec ctxsim "$@"
fi
# pre-commit keeps one checkout for each revision of this repository, so what is beside it belongs to it.
if [ ! -x "$here/hook/ctxsim" ] && [ ! -x "$here/hook/ctxsim.exe" ]; then
    sh "$here/install.sh" "$here/hook" >&2
fi
exec "$here/hook/ctxsim" "$@"

#!/bin/sh
# Runs ctxsim as a hook of pre-commit: the one on the PATH, else the pinned release, which is downloaded once and checked.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
if command -v ctxsim > /dev/null; then
    exec ctxsim "$@"
fi
# pre-commit keeps one checkout for each revision of this repository, so what is beside it belongs to it.
if [ ! -x "$here/hook/ctxsim" ] && [ ! -x "$here/hook/ctxsim.exe" ]; then
    sh "$here/install.sh" "$here/hook" >&2
fi
exec "$here/hook/ctxsim" "$@"

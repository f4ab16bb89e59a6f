#!/bin/sh
# Runs the action in a checked-out repository: check, annotations, summary. Exits with the code of `ctxsim check`, or with that of the comparison.
set -u
ctxsim="${CTXSIM:-ctxsim}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if ! command -v "$ctxsim" > /dev/null; then
    echo "::error title=ctxsim is not installed::Leave out `version: none`, or install it in an earlier step, so that \`$ctxsim\` is on the PATH."
    exit 2
fi
folder="$(mktemp -d)"
allow=""
if [ "${CTXSIM_ALLOW_PROCESS:-}" = true ]; then
    allow="--allow-process"
fi

# `$allow` is one word or none.
"$ctxsim" check $allow --format github --output "$folder/check.md"
code=$?
[ ! -f "$folder/check.md" ] || cat "$folder/check.md" >> "$summary"

# The summary shows what the pull request changes even if a check fails.
if [ -n "${CTXSIM_BASE:-}" ]; then
    if "$ctxsim" compare $allow --base "rev:$CTXSIM_BASE" --format github --output "$folder/compare.md"; then
        cat "$folder/compare.md" >> "$summary"
    elif [ "$code" = 0 ]; then
        # What cannot be compared is not unchanged.
        code=2
    fi
fi
rm -r "$folder"
exit "$code"

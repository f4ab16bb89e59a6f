#!/bin/sh
# Runs the action in a checked-out repository: check, annotations, summary. Exits with the code of `ctxsim check`.
set -u
ctxsim="${CTXSIM:-ctxsim}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
part="$(mktemp)"
allow=""
if [ "${CTXSIM_ALLOW_PROCESS:-}" = true ]; then
    allow="--allow-process"
fi

# `$allow` is one word or none.
"$ctxsim" check $allow --format github --output "$part"
code=$?
cat "$part" >> "$summary"

# The summary shows what the pull request changes even if a check fails.
if [ -n "${CTXSIM_BASE:-}" ]; then
    if "$ctxsim" compare $allow --base "rev:$CTXSIM_BASE" --format github --output "$part"; then
        cat "$part" >> "$summary"
    fi
fi
rm -f "$part"
exit "$code"

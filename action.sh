#!/bin/sh
# What the action does in a checked-out repository: check, annotations, and the summary. Ends as `ctxsim check` does.
set -u
ctxsim="${CTXSIM:-ctxsim}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
part="$(mktemp)"

"$ctxsim" check --format github --output "$part"
code=$?
cat "$part" >> "$summary"

# What the pull request changes is told even where a check fails.
if [ -n "${CTXSIM_BASE:-}" ]; then
    if "$ctxsim" compare --base "rev:$CTXSIM_BASE" --format github --output "$part"; then
        cat "$part" >> "$summary"
    fi
fi
rm -f "$part"
exit "$code"

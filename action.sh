#!/bin/sh
# Runs the action in a checked-out repository: check, annotations, summary. Exits with the code of `ctxsim check`, or with that of the comparison.
set -u
# Letters are those of ASCII.
export LC_ALL=C
ctxsim="${CTXSIM:-ctxsim}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if ! command -v "$ctxsim" > /dev/null; then
    echo "::error title=ctxsim is not installed::Leave out \`version: none\`, or install it in an earlier step, so that \`$ctxsim\` is on the PATH."
    exit 2
fi
# Refuses any other value than these: none of them can be an option, a second argument or a command of the runner.
refuse() {
    echo "::error title=The inputs of this action are not right::$1"
    exit 2
}
case "${CTXSIM_BASE:-}" in
    -* | *[!0-9A-Za-z._/@{}~^+#=,-]*) refuse "base is not the name of a revision, such as origin/main" ;;
esac
folder="$(mktemp -d)"
set --
case "${CTXSIM_ALLOW_PROCESS:-false}" in
    true) set -- "$@" --allow-process ;;
    false) ;;
    *) refuse "allow-process is true or false" ;;
esac

# A suite may name revisions only where that is allowed; the base was given by the workflow.
case "${CTXSIM_ALLOW_REV:-false}" in
    true) "$ctxsim" check "$@" --allow-rev --format github --output "$folder/check.md" ;;
    false) "$ctxsim" check "$@" --format github --output "$folder/check.md" ;;
    *) refuse "allow-rev is true or false" ;;
esac
code=$?
[ ! -f "$folder/check.md" ] || cat "$folder/check.md" >> "$summary"

# The summary shows what the pull request changes even if a check fails.
if [ -n "${CTXSIM_BASE:-}" ]; then
    if "$ctxsim" compare "$@" --base "rev:$CTXSIM_BASE" --format github --output "$folder/compare.md"; then
        cat "$folder/compare.md" >> "$summary"
    elif [ "$code" = 0 ]; then
        # What cannot be compared is not unchanged.
        code=2
    fi
fi
rm -r "$folder"
exit "$code"

#!/bin/sh
# Runs the action in a checked-out repository: check, annotations, summary, and one comment on the pull request. Exits with the code of
# `ctxsim check`, or with that of the comparison.
set -u
# Letters are those of ASCII.
export LC_ALL=C
ctxsim="${CTXSIM:-ctxsim}"
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
# What the one comment begins with: it is updated, not written again.
mark="<!-- ctxsim -->"
# The most bytes of a comment, below GitHub's 65,536 characters.
bytes_max=60000
if ! command -v "$ctxsim" > /dev/null; then
    echo "::error title=ctxsim is not installed::Leave out \`version: none\`, or install it in an earlier step, so that \`$ctxsim\` is on the PATH."
    exit 2
fi
# Refuses any other value than these: none of them can be an option, a second argument or a command of the runner.
refuse() {
    echo "::error title=The inputs of this action are not right::$1"
    exit 2
}
# Such a workflow has the secrets of the target branch and the files of a stranger.
if [ "${GITHUB_EVENT_NAME:-}" = pull_request_target ]; then
    refuse "run it on pull_request, never on pull_request_target"
fi
revision() {
    case "$2" in
        -* | *[!0-9A-Za-z._/@{}~^+#=,-]*) refuse "$1 is not the name of a revision, such as origin/main" ;;
    esac
}
revision base "${CTXSIM_BASE:-}"
revision explain "${CTXSIM_EXPLAIN:-}"
# A switch becomes an option: `switch NAME VALUE`.
option=
switch() {
    case "$2" in
        true) option="--$1" ;;
        false | "") option= ;;
        *) refuse "$1 is true or false" ;;
    esac
}
set --
switch allow-process "${CTXSIM_ALLOW_PROCESS:-}"
set -- "$@" ${option:+"$option"}
# What follows is for the check alone: the base was given by the workflow, and a suite may name revisions only where that is allowed.
process="$option"
switch allow-rev "${CTXSIM_ALLOW_REV:-}"
set -- "$@" ${option:+"$option"}
switch play-twice "${CTXSIM_PLAY_TWICE:-}"
set -- "$@" ${option:+"$option"}
case "${CTXSIM_THREADS:-}" in
    *[!0-9]*) refuse "threads is a number" ;;
    ?*) set -- "$@" "--threads=$CTXSIM_THREADS" ;;
esac
case "${CTXSIM_RATCHET:-}" in
    "" | false) ;;
    true) set -- "$@" --ratchet ;;
    *[!0-9.%]*) refuse "ratchet is true or a share, such as 1%" ;;
    *) set -- "$@" "--ratchet=$CTXSIM_RATCHET" ;;
esac
[ -z "${CTXSIM_EXPLAIN:-}" ] || set -- "$@" "--explain=$CTXSIM_EXPLAIN"
[ -z "${CTXSIM_SNAPSHOTS:-}" ] || set -- "$@" "--snapshots=$CTXSIM_SNAPSHOTS"
# Names stand a line each; an option with its value in one word cannot become another.
while IFS= read -r name; do
    [ -z "$name" ] || set -- "$@" "--suite=$name"
done << END
${CTXSIM_SUITES:-}
END
while IFS= read -r number; do
    [ -z "$number" ] || set -- "$@" "--assume=$number"
done << END
${CTXSIM_ASSUME:-}
END

folder="$(mktemp -d)"
"$ctxsim" check "$@" --format github --output "$folder/check.md"
code=$?
[ ! -f "$folder/check.md" ] || cat "$folder/check.md" >> "$folder/all.md"

# The laws are held by policies, a line each, not by suites.
set --
while IFS= read -r name; do
    [ -z "$name" ] || set -- "$@" "--policy=$name"
done << END
${CTXSIM_LAWS:-}
END
if [ "$#" != 0 ]; then
    "$ctxsim" check --laws ${process:+"$process"} "$@" --counterexamples "$folder/laws" --output "$folder/laws.txt"
    laws=$?
    [ "$code" != 0 ] || code=$laws
    if [ -f "$folder/laws.txt" ]; then
        { echo; echo '```'; cat "$folder/laws.txt"; echo '```'; } >> "$folder/all.md"
    fi
fi

# The summary shows what the pull request changes even if a check fails.
if [ -n "${CTXSIM_BASE:-}" ]; then
    if "$ctxsim" compare ${process:+"$process"} --base "rev:$CTXSIM_BASE" --format github --output "$folder/compare.md"; then
        cat "$folder/compare.md" >> "$folder/all.md"
    elif [ "$code" = 0 ]; then
        # What cannot be compared is not unchanged.
        code=2
    fi
fi

# Writes the one comment on the pull request, or updates it; fails where the token may not, as from a fork.
comment() {
    number="${GITHUB_REF:-}"
    number="${number#refs/pull/}"
    number="${number%/merge}"
    case "$number" in
        "" | *[!0-9]*) return 1 ;;
    esac
    command -v gh > /dev/null && [ -n "${GH_TOKEN:-}" ] || return 1
    issues="repos/$GITHUB_REPOSITORY/issues"
    { echo "$mark"; awk -v max="$bytes_max" '{ n += length($0) + 1; if (n > max) exit; print }' "$folder/all.md"; } > "$folder/comment.md"
    [ "$(wc -c < "$folder/all.md")" -le "$bytes_max" ] || printf '\n\n(cut; the summary of the run has all of it)\n' >> "$folder/comment.md"
    own="$(gh api --paginate "$issues/$number/comments" \
        --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id" 2> /dev/null | head -1)" || return 1
    case "$own" in
        *[!0-9]*) return 1 ;;
        "") gh api --silent "$issues/$number/comments" -F "body=@$folder/comment.md" > /dev/null 2>&1 ;;
        *) gh api --silent --method PATCH "$issues/comments/$own" -F "body=@$folder/comment.md" > /dev/null 2>&1 ;;
    esac
}
if [ -f "$folder/all.md" ]; then
    if [ "${CTXSIM_COMMENT:-true}" = true ] && comment; then
        echo "ctxsim: the results are a comment on the pull request"
    else
        cat "$folder/all.md" >> "$summary"
    fi
fi
rm -r "$folder"
exit "$code"

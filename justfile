# The commands of this project; `just check` is what CI runs.

check:
    .ci/run

test:
    cargo test

review:
    cargo insta review

bench:
    cargo bench --package ctxsim-benches

# Instructions of whole commands against `benches/limits.toml`; needs valgrind. `--builds` measures builds instead, `--documents` counts words and lines.
speed *ARGS:
    cargo run --quiet --package ctxsim-benches --bin speed -- {{ARGS}}

# Prints how high reports are and what they weigh
heights *REPORTS:
    python3 benches/report_heights.py {{REPORTS}}

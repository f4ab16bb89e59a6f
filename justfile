# The commands of this project; `just check` is what CI runs.

check:
    .ci/run

test:
    cargo test

review:
    cargo insta review

bench:
    cargo bench --package ctxsim-benches

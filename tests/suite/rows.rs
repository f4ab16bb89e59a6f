//! Every row is made of declared columns, which the documents list.

use std::fmt::Write as _;
use std::{env, fs};

use ctxsim::report::rows;

/// The page that lists the columns.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/rows.md");

const OPENING: &str = "\
<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite rows` writes this page. -->

# Rows

`ctxsim run --rows KIND` writes rows as JSON lines, JSON or CSV; `--format jsonl` and `csv` write a row for each run. JSON puts the columns of a group into an object;
CSV joins their names with a dot. If rows of several runs are written, `policy`, `scenario` and `profile` come first; rows of conversations then have `length` and `trial`.
A guard names a number of a run by its column, as in `totals.cost_usd.total`. Cards and facts ([memories that age](../studies/aging.md)) have a schema of their own.
";

#[test]
fn the_documents_list_the_columns_of_every_kind_of_row() {
    let mut page = OPENING.to_owned();
    for (kind, heads) in rows::columns_by_row_kind() {
        write!(page, "\n## {kind}\n\n| column | unit | meaning |\n|---|---|---|\n").unwrap();
        for it in heads.iter().filter(|it| !it.doc.is_empty()) {
            writeln!(page, "| `{}` | {} | {} |", it.name, format!("{:?}", it.unit).to_lowercase(), it.doc)
                .unwrap();
        }
    }
    if env::var_os("CTXSIM_BLESS").is_some() {
        return fs::write(PAGE, page).unwrap();
    }
    assert!(fs::read_to_string(PAGE).unwrap() == page, "set CTXSIM_BLESS to write the columns");
}

#[test]
fn a_column_has_a_sentence_and_no_two_have_one_name() {
    for (kind, heads) in rows::columns_by_row_kind() {
        let mut names: Vec<&str> = heads.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|it| it[0] != it[1]), "{kind}");
        assert!(heads.iter().all(|it| it.doc.is_empty() || it.doc.ends_with('.')), "{kind}");
    }
}

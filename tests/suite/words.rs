//! Counts the words and lines of the documents against `[documents]` of `benches/limits.toml`; `just speed --builds` prints them, too.

use std::fs;
use std::path::{Path, PathBuf};

/// The kinds of pages in the book, each with its pages.
const KINDS: [(&str, &str); 5] = [
    ("tutorial", "docs/tutorial.md"),
    ("how-to", "docs/how-to"),
    ("reference", "docs/reference"),
    ("explanation", "docs/explanation"),
    ("studies", "docs/studies"),
];

/// The READMEs of what is published beside the crate.
pub(crate) const PACKAGE_READMES: [&str; 4] =
    ["bindings/npm/README.md", "bindings/python/README.md", "bindings/wasm/README.md", "web/README.md"];

/// The words of a page: what people wrote, and what a test writes or what is a table of a study.
#[derive(Default)]
pub(crate) struct PageWords {
    pub(crate) written: usize,
    pub(crate) apart: usize,
}

/// A number of the documents beside its limit: what it is, the number, the limit, its unit.
pub(crate) type DocumentRow = (String, f64, f64, &'static str);

/// Counts the words of a page.
pub(crate) fn words(page: &str, is_study: bool) -> PageWords {
    let mut found = PageWords::default();
    let is_generated = page.starts_with("<!-- Generated");
    let (mut marked, mut block) = (false, None::<bool>);
    for line in page.lines() {
        if let Some(opening) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(opening.starts_with("console")) };
            continue;
        }
        if let Some(mark) = line.strip_prefix("<!-- ") {
            marked = block.is_none() && !mark.starts_with('/') && page.contains(&format!("<!-- /{mark}"));
            continue;
        }
        let is_output = block == Some(true) && !line.starts_with("$ ");
        let is_table = is_study && block.is_none() && line.starts_with('|');
        let count = line.split_whitespace().filter(|it| it.contains(char::is_alphanumeric)).count();
        if is_generated || marked || is_output || is_table {
            found.apart += count;
        } else {
            found.written += count;
        }
    }
    found
}

/// Returns the pages below a path of the project, in order.
pub(crate) fn pages_below(root: &Path, path: &str) -> Vec<PathBuf> {
    let path = root.join(path);
    if path.is_file() {
        return vec![path];
    }
    let Ok(entries) = fs::read_dir(&path) else { return Vec::new() };
    let mut pages: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    pages.retain(|it| it.extension().is_some_and(|it| it == "md"));
    pages.sort();
    pages
}

/// Returns how many lines a file has; 0 where there is none.
fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |it| it.lines().count())
}

/// Returns every number of the documents that has a limit.
pub(crate) fn measured(root: &Path, limits: &toml::Table) -> Vec<DocumentRow> {
    let limit = |name: &str| limits.get(name).and_then(toml::Value::as_integer).unwrap_or(0) as f64;
    let mut rows = Vec::new();
    let mut sum = PageWords::default();
    for (kind, path) in KINDS {
        let mut of_kind = PageWords::default();
        let pages = pages_below(root, path);
        for page in &pages {
            let found = words(&fs::read_to_string(page).unwrap_or_default(), kind == "studies");
            of_kind.written += found.written;
            of_kind.apart += found.apart;
        }
        sum.written += of_kind.written;
        sum.apart += of_kind.apart;
        let name = format!("{kind}: {} pages, and {} words apart", pages.len(), of_kind.apart);
        rows.push((name, of_kind.written as f64, limit("words"), "words"));
    }
    let index = words(&fs::read_to_string(root.join("docs/index.md")).unwrap_or_default(), false);
    let all = (sum.written + index.written) as f64;
    rows.push((format!("the book, and {} words apart", sum.apart), all, limit("words"), "words"));
    rows.push(("README.md".to_owned(), lines(&root.join("README.md")) as f64, limit("readme"), "lines"));
    for page in pages_below(root, "docs/how-to") {
        rows.push((shown(root, &page), lines(&page) as f64, limit("how_to"), "lines"));
    }
    let crates = fs::read_dir(root.join("crates")).into_iter().flatten().filter_map(Result::ok);
    let mut readmes: Vec<PathBuf> = crates.map(|it| it.path().join("README.md")).collect();
    readmes.extend(PACKAGE_READMES.map(|it| root.join(it)));
    readmes.sort();
    for path in readmes {
        rows.push((shown(root, &path), lines(&path) as f64, limit("package"), "lines"));
    }
    let picture = fs::metadata(root.join("docs/pictures/terminal.svg")).map_or(0, |it| it.len());
    rows.push(("docs/pictures/terminal.svg".to_owned(), picture as f64 / 1e3, limit("picture"), "kB"));
    rows
}

/// Returns a path as it is written in the project.
fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

//! The code blocks of documents: what each one is, and whether it runs.

use std::path::{Path, PathBuf};

/// Why a block is not run. Its first line says so: ```` ```sh needs=network ````.
pub(crate) const NEEDS: [(&str, &str); 5] = [
    ("network", "it fetches packages, or serves for ever"),
    ("checkout", "it builds this project"),
    ("minutes", "it takes minutes without optimisation, and other tests play the same"),
    ("package", "it starts a published package, whose tests stand in bindings/python/tests/test_parts.py"),
    ("script", "it starts a program that is published elsewhere"),
];

/// A fenced block: its first line's words, and what it holds.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The number of its first line, from 1.
    pub(crate) line: usize,
    /// The first word, such as `console`; empty if there is none.
    pub(crate) language: String,
    /// The words after it.
    pub(crate) words: Vec<String>,
    pub(crate) body: Vec<String>,
}

/// A part of a document.
pub(crate) enum Piece {
    Line(String),
    Block(Block),
}

impl Block {
    /// Returns the file that the block is, if it is one: ```` ```ron my.ron ````.
    pub(crate) fn path(&self) -> Option<&str> {
        self.words.iter().map(String::as_str).find(|it| !it.contains('='))
    }

    /// Returns why it is not run, if it is not.
    pub(crate) fn needs(&self) -> Option<&str> {
        self.words.iter().find_map(|it| it.strip_prefix("needs="))
    }

    /// Returns its first line.
    pub(crate) fn opening(&self) -> String {
        let first = format!("```{}", self.language);
        self.words.iter().fold(first, |line, it| line + " " + it)
    }

    pub(crate) fn text(&self) -> String {
        self.body.iter().map(|it| format!("{it}\n")).collect()
    }

    /// Returns the commands of a block of `sh`, without comments.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        let whole = self.body.iter().map(|it| it.split("  #").next().unwrap_or_default().trim());
        whole.filter(|it| !it.is_empty() && !it.starts_with('#'))
    }
}

/// Splits a document into lines and blocks.
pub(crate) fn pieces(document: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(opening) = line.strip_prefix("```") else {
            assert!(!line.trim_start().starts_with("```"), "line {}: a block begins its line", at + 1);
            pieces.push(Piece::Line(line.to_owned()));
            continue;
        };
        let mut words = opening.split(' ').filter(|it| !it.is_empty()).map(str::to_owned);
        let language = words.next().unwrap_or_default();
        let body = lines.by_ref().map(|it| it.1.to_owned()).take_while(|it| it != "```").collect();
        pieces.push(Piece::Block(Block { line: at + 1, language, words: words.collect(), body }));
    }
    pieces
}

/// Returns the blocks of a document.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let block = |it| if let Piece::Block(block) = it { Some(block) } else { None };
    pieces(document).into_iter().filter_map(block).collect()
}

/// Returns the texts in single backticks outside of blocks.
pub(crate) fn spans(document: &str) -> Vec<String> {
    let line = |it| if let Piece::Line(line) = it { Some(line) } else { None };
    let lines = pieces(document).into_iter().filter_map(line);
    lines.flat_map(|it| it.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Returns every document whose examples are promised: its path below the project, and its text.
pub(crate) fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = crate::words::PACKAGE_READMES.map(|it| root.join(it)).to_vec();
    paths.push(root.join("README.md"));
    for folder in ["docs", "docs/how-to", "docs/reference", "docs/explanation", "docs/studies"] {
        paths.extend(crate::words::pages_below(root, folder));
    }
    paths.sort();
    // The package of the crate has neither bindings nor page.
    let read = |it: PathBuf| {
        let text = std::fs::read_to_string(&it).ok()?;
        Some((it.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"), text))
    };
    paths.into_iter().filter_map(read).collect()
}

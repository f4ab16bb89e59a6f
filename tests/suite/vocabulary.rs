//! Texts for newcomers use the words of the vocabulary, and explain a term of art where they show one.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::support::*;

/// Terms of art that commands and tables show, and what explains each: one of these must stand beside it.
const TERMS: [(&str, &[&str]); 4] = [
    ("identity", &["`identity` sends everything", "`identity` keeps everything"]),
    ("clairvoyant", &["`clairvoyant` knows the future"]),
    ("hindsight", &["`hindsight` knows the future", "`hindsight` knows in advance"]),
    (
        "evidence",
        &[
            "*Evidence kept* is the share",
            "*evidence* is text that a later step reused",
            "*Evidence* is text that a later step reused",
        ],
    ),
];

/// Returns the prose of a page, without blocks and code, a line for each paragraph.
fn prose(page: &str) -> String {
    let mut text = String::new();
    let mut is_block = false;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_block = true,
            Event::End(TagEnd::CodeBlock) => is_block = false,
            Event::Text(it) if !is_block => text.push_str(&it),
            Event::Code(_) => text.push('`'),
            Event::SoftBreak => text.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell | TagEnd::Item) => {
                text.push('\n');
            }
            _ => {}
        }
    }
    text
}

/// Returns whether a text has some words, whole.
fn has(text: &str, words: &str) -> bool {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '-');
    text.match_indices(words).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + words.len()..].chars().next())
    })
}

/// Returns what is wrong with the words of a plain text, such as the first screen.
pub(crate) fn unknown_words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let wrong = table("replaced_words").into_iter().filter(|it| has(&text, it.0));
    wrong.map(|(word, instead)| format!("\"{word}\": write \"{instead}\"")).collect()
}

/// Returns what is wrong with the words of a page of Markdown.
fn wrong_in(page: &str) -> Vec<String> {
    let mut wrong = unknown_words(&prose(page));
    let lower = page.to_lowercase();
    for (term, explained) in TERMS {
        if has(&lower, term) && !explained.iter().any(|it| page.contains(it)) {
            wrong.push(format!("\"{term}\" is not explained: write one of {explained:?}"));
        }
    }
    wrong
}

/// Returns the texts of the page: of HTML what stands between tags, of scripts the strings that have several words.
fn texts_of_page(name: &str, source: &str) -> String {
    if name.ends_with(".html") {
        let body = source.split('<').filter_map(|it| it.split_once('>'));
        return body.map(|it| format!("{}\n", it.1.trim())).collect();
    }
    let mut texts = String::new();
    for line in source.lines().filter(|it| !it.trim_start().starts_with(['/', '*'])) {
        for quote in ['"', '`', '\''] {
            let strings = line.split(quote).skip(1).step_by(2);
            for it in strings.filter(|it| it.split_whitespace().count() > 2 && !it.contains(['{', '=', ';']))
            {
                texts += &format!("{it}\n");
            }
        }
    }
    texts
}

#[test]
fn pages_for_newcomers_use_the_words_of_the_vocabulary() {
    let root = root();
    let mut wrong = Vec::new();
    let mut pages = vec![root.join("README.md"), root.join("docs/index.md")];
    for folder in ["docs/tutorial.md", "docs/how-to"] {
        pages.extend(crate::words::pages_below(root, folder));
    }
    for page in pages {
        let found = wrong_in(&fs::read_to_string(&page).unwrap());
        wrong.extend(
            found.into_iter().map(|it| format!("{}: {it}", page.strip_prefix(root).unwrap().display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_page_in_the_browser_uses_the_words_of_the_vocabulary() {
    let folder = root().join("web/src");
    let mut wrong = Vec::new();
    // The package of the crate has no page.
    for path in fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".html") || name.ends_with(".ts") {
            let found = unknown_words(&texts_of_page(&name, &fs::read_to_string(&path).unwrap()));
            wrong.extend(found.into_iter().map(|it| format!("{name}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_first_screen_uses_the_words_of_the_vocabulary() {
    let output = ctxsim(env!("CARGO_TARGET_TMPDIR"), ["screen", "recorded/claude-code"]);
    assert!(output.status.success());

    let wrong = unknown_words(&String::from_utf8(output.stdout).unwrap());

    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_vocabulary_explains_each_term_of_art() {
    let page = include_str!("../../docs/reference/vocabulary.md");
    let rows: Vec<&str> = page.lines().filter(|it| it.starts_with("| ")).collect();

    for (term, _) in TERMS {
        assert!(rows.iter().any(|it| it.split('|').nth(1).is_some_and(|it| has(it, term))), "{term}");
    }
    assert!(rows.len() > 40, "{}", rows.len());
    assert!(has("a play, b", "play") && !has("display", "play") && !has("player", "play"));
    assert_eq!(prose("A `play` b\n\n```text\nplay\n```\n"), "A ` b\n");
}

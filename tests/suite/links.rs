//! Every link of the documents leads somewhere: files, and headings by their anchors.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::support::*;

/// A page's links, each with what it leads to, and the anchors of its headings.
#[derive(Default)]
struct PageLinks {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|it| it.is_alphanumeric() || ['-', '_', ' '].contains(it));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

/// Returns the values of attributes of HTML that lead to files.
fn attributes(html: &str) -> Vec<String> {
    let of = |name: &str| {
        let begin = format!(" {name}=\"");
        let all = html.split(begin.as_str()).skip(1).filter_map(|it| it.split_once('"'));
        all.map(|it| it.0.to_owned()).collect::<Vec<_>>()
    };
    ["href", "src", "srcset"].into_iter().flat_map(of).collect()
}

/// Reads a page.
fn page_links(text: &str) -> PageLinks {
    let mut found = PageLinks::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let base = anchor(&heading.take().unwrap_or_default());
                let numbered = (1..).map(|nth| format!("{base}-{nth}"));
                let free =
                    std::iter::once(base.clone()).chain(numbered).find(|it| !found.anchors.contains(it));
                found.anchors.extend(free);
            }
            Event::Text(it) | Event::Code(it) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&it);
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found.links.push(dest_url.into_string());
            }
            Event::Html(it) | Event::InlineHtml(it) => found.links.extend(attributes(&it)),
            _ => {}
        }
    }
    found
}

/// Returns the documents: those at the top, the book, and READMEs of packages.
fn documents(root: &Path) -> Vec<PathBuf> {
    let is_made = |it: &PathBuf| {
        ["target", "node_modules", "pkg", "dist"].iter().any(|made| it.iter().any(|part| part == *made))
    };
    let below = ["docs", "bindings", "crates", "web"].map(|it| files_below(&root.join(it), &["md"]));
    let mut found: Vec<PathBuf> = below.concat().into_iter().filter(|it| !is_made(it)).collect();
    let top = ["README.md", "CONTRIBUTING.md", "DESIGN.md", "CHANGELOG.md", "SECURITY.md"];
    found.extend(top.map(|it| root.join(it)).into_iter().filter(|it| it.is_file()));
    found.sort();
    found
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let root = root();
    let read = |it: PathBuf| {
        let links = page_links(&fs::read_to_string(&it).unwrap());
        (it, links)
    };
    let pages: BTreeMap<PathBuf, PageLinks> = documents(root).into_iter().map(read).collect();
    let (mut dead, mut count) = (Vec::new(), 0);

    for (page, found) in &pages {
        for link in found.links.iter().filter(|it| !it.contains("://") && !it.starts_with("mailto:")) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                _ => plain_path(&page.parent().unwrap().join(path)),
            };
            let has_anchor = || pages.get(&target).is_none_or(|it| it.anchors.contains(anchor));
            // The book is published without the rest of the project.
            let book = root.join("docs");
            let leaves = page.starts_with(&book) && !target.starts_with(&book);
            if leaves || !target.exists() || (!anchor.is_empty() && !has_anchor()) {
                dead.push(format!("{}: {link}", page.strip_prefix(root).unwrap().display()));
            }
        }
    }

    // The package of the crate leaves some folders out.
    dead.retain(|_| root.join(".ci").exists());
    assert!(dead.is_empty(), "{dead:#?}");
    assert!(count > 100, "{count} links");
}

#[test]
fn anchors_are_those_that_readers_click() {
    assert_eq!(
        anchor("`immediate_summary`, term by term".trim_matches('`')),
        "immediate_summary-term-by-term"
    );
    assert_eq!(anchor("5 minutes or 1 hour?"), "5-minutes-or-1-hour");
    let page = page_links("# One\n\n## A `b`, c\n\n[x](y.md#z) <img src=\"p.svg\">\n\n## One\n");
    assert_eq!(page.anchors.into_iter().collect::<Vec<_>>(), ["a-b-c", "one", "one-1"]);
    assert_eq!(page.links, ["y.md#z", "p.svg"]);
}

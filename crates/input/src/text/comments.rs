//! The comments of an input, carried over to its text in another format: each stays with the field that it explains.

use crate::prelude::*;

use super::Source;
use super::tree::{Node, Tree};

/// How far to the right of its line a comment is behind a value, and not above the next field.
const CONTINUED: usize = 12;

/// A comment in a text: lines of their own, or what stands behind a value.
struct TextComment {
    /// Its lines without their marks.
    lines: Vec<String>,
    /// Its bytes.
    at: Range<usize>,
    /// Where it begins in its line.
    column: usize,
    /// By how much its line is indented.
    indent: usize,
    /// Whether something else begins its line.
    is_behind: bool,
    /// Whether a blank line parts it from what is above it.
    is_apart: bool,
}

/// Where a comment goes in another text.
enum CommentSpot {
    /// The first lines.
    Head,
    /// The lines above a field.
    Above(String),
    /// The end of a field's first line.
    Behind(String),
    /// The lines below a field.
    Below(String),
    /// The last lines.
    Foot,
}

/// A field or an element of a text.
struct TextField {
    path: String,
    /// Its bytes: from its name on; of a TOML section, its header's.
    at: Range<usize>,
}

/// Returns the text of an input in a format with the comments of its source.
pub fn with_comments(source: &Source, text: &str, format: Format) -> String {
    let tree = source.tree();
    let mut fields = Vec::new();
    collect(&tree.root, &tree.root, &mut Vec::new(), &mut fields);
    fields.sort_by_key(|it| (it.at.start, std::cmp::Reverse(it.at.end)));
    let into = Tree::new(text, format);
    let mut added: Vec<(usize, String)> = Vec::new();
    for comment in comments(&source.text, tree) {
        let spot = spot(&comment, &source.text, tree, &fields, &into);
        added.push(placed(&comment, &spot, text, &into));
    }
    added.sort_by_key(|it| it.0);
    let mut all = String::with_capacity(text.len() + source.text.len());
    let mut from = 0;
    for (at, lines) in added {
        all += &text[from..at];
        all += &lines;
        from = at;
    }
    all + &text[from..]
}

/// Lists the fields and elements below a node.
fn collect(root: &Node, node: &Node, way: &mut Vec<usize>, found: &mut Vec<TextField>) {
    for (index, entry) in node.entries().iter().enumerate() {
        way.push(index);
        let value = &entry.value;
        let key = entry.key.as_ref().map_or(&value.span, |it| &it.span);
        let at = key.start.min(value.span.start)..value.span.end;
        found.push(TextField { path: root.path(way), at });
        collect(root, value, way, found);
        way.pop();
    }
}

/// Returns the comments of a text: what follows a mark outside of names, numbers and texts.
fn comments(text: &str, tree: &Tree) -> Vec<TextComment> {
    let mut leaves = Vec::new();
    leaf_spans(&tree.root, &mut leaves);
    leaves.sort_by_key(|it| it.start);
    let mut leaves = leaves.into_iter().peekable();
    let mut found: Vec<TextComment> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        while leaves.next_if(|it| it.end <= at).is_some() {}
        if let Some(leaf) = leaves.next_if(|it| it.start <= at) {
            at = leaf.end.max(at + 1);
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let length = match tree.format {
            Format::Toml if rest.starts_with('#') => line_length(rest),
            Format::Ron if rest.starts_with("//") => line_length(rest),
            Format::Ron if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |it| it + 2),
            _ => {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
        };
        take(text, at..at + length, &mut found);
        at += length;
    }
    found.retain(|it| !it.lines.is_empty());
    found
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// Adds a comment, or continues the one before it.
fn take(text: &str, at: Range<usize>, found: &mut Vec<TextComment>) {
    let line_start = text[..at.start].rfind('\n').map_or(0, |it| it + 1);
    let before = &text[line_start..at.start];
    let is_behind = !before.trim().is_empty();
    let column = before.chars().count();
    let indent = column - before.trim_start().chars().count();
    let is_apart = text[..line_start].trim_end_matches([' ', '\t', '\r']).ends_with("\n\n")
        || text[..line_start].ends_with("\r\n\r\n");
    // What an editor is told of a TOML file has no use elsewhere.
    let lines: Vec<String> =
        text[at.clone()].lines().map(unmarked).filter(|it| !it.starts_with(":schema")).collect();
    if let Some(last) = found.last_mut()
        && !is_behind
        && text[last.at.end..line_start].trim_matches([' ', '\t', '\r']) == "\n"
    {
        // Below a comment behind a value, what stands far to the right continues it.
        let continues = if last.is_behind { column > last.indent + CONTINUED } else { last.column == column };
        if continues {
            last.lines.extend(lines);
            last.at.end = at.end;
            return;
        }
    }
    found.push(TextComment { lines, at, column, indent, is_behind, is_apart });
}

/// Returns a line of a comment without its marks.
fn unmarked(line: &str) -> String {
    let line = line.trim();
    let line = line.strip_prefix("//").or_else(|| line.strip_prefix("/*")).unwrap_or(line);
    let line = line.strip_suffix("*/").unwrap_or(line);
    let line = line.strip_prefix('#').or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}

/// Lists the bytes of names and of values without brackets.
fn leaf_spans(node: &Node, found: &mut Vec<Range<usize>>) {
    for entry in node.entries() {
        found.extend(entry.key.as_ref().map(|it| it.span.clone()));
        if entry.value.is_leaf() {
            found.push(entry.value.span.clone());
        }
        leaf_spans(&entry.value, found);
    }
}

/// Returns where a comment goes: with the field that it explains, if the other text has it, else with the next one that it has.
fn spot(comment: &TextComment, text: &str, tree: &Tree, fields: &[TextField], into: &Tree) -> CommentSpot {
    let has = |it: &&TextField| into.exact(&it.path).is_some();
    if comment.is_behind {
        let line_start = text[..comment.at.start].rfind('\n').map_or(0, |it| it + 1);
        let on_line = fields.iter().find(|it| it.at.start >= line_start && it.at.start < comment.at.start);
        let ended = || fields.iter().filter(|it| it.at.end <= comment.at.start).max_by_key(|it| it.at.end);
        if let Some(field) = on_line.or_else(ended).filter(has) {
            return CommentSpot::Behind(field.path.clone());
        }
    }
    let first = fields.first().map_or(text.len(), |it| it.at.start);
    let opening = tree.root.span.start;
    let is_head = match tree.format {
        Format::Ron => {
            comment.at.start < opening.max(text.find('(').unwrap_or(0)) && comment.at.start < first
        }
        Format::Toml => comment.at.start < first && text[comment.at.end..first].contains("\n\n"),
    };
    if is_head {
        return CommentSpot::Head;
    }
    let next = fields.iter().filter(|it| it.at.start >= comment.at.end).find(has);
    let around = fields.iter().rfind(|it| it.at.start < comment.at.start && it.at.end >= comment.at.end);
    let inside = around.map_or(0, |it| it.at.start);
    let before = fields.iter().filter(|it| it.at.start > inside && it.at.end <= comment.at.start);
    let last = before.filter(has).max_by_key(|it| (it.at.end, std::cmp::Reverse(it.at.start)));
    // In RON brackets say what a comment is in; what closes before the next field parts it from that.
    let closes = |to: usize| tree.format == Format::Ron && leaves_bracket(&text[comment.at.end..to]);
    match (next, last) {
        (Some(next), _) if !closes(next.at.start) => CommentSpot::Above(next.path.clone()),
        (_, Some(last)) if tree.format == Format::Ron => CommentSpot::Below(last.path.clone()),
        (Some(next), _) => CommentSpot::Above(next.path.clone()),
        _ => CommentSpot::Foot,
    }
}

/// Returns whether the first mark of a text closes a bracket.
fn leaves_bracket(text: &str) -> bool {
    let code = text.lines().map(|it| it.split("//").next().unwrap_or_default().trim());
    code.into_iter().find(|it| !it.is_empty()).is_some_and(|it| it.starts_with([')', ']', '}']))
}

/// Returns a comment as lines of another text, and where they go.
fn placed(comment: &TextComment, spot: &CommentSpot, text: &str, into: &Tree) -> (usize, String) {
    let mark = if into.format == Format::Ron { "//" } else { "#" };
    let marked = |it: &String| if it.is_empty() { mark.to_owned() } else { format!("{mark} {it}") };
    let block = |indent: &str| comment.lines.iter().map(|it| format!("{indent}{}\n", marked(it))).collect();
    let node = |path: &String| into.exact(path);
    match spot {
        CommentSpot::Head => {
            let lines: String = block("");
            (0, if into.format == Format::Toml { lines + "\n" } else { lines })
        }
        CommentSpot::Foot => {
            (foot(text, into.format), block(if into.format == Format::Ron { "    " } else { "" }))
        }
        CommentSpot::Behind(path) => {
            let start = node(path).map_or(0, |it| it.span.start);
            let end = start + line_length(&text[start..]);
            let line_start = text[..start].rfind('\n').map_or(0, |it| it + 1);
            if is_in_leaf(&into.root, end) || text[line_start..start].contains(['(', '{', ',']) {
                // Others stand on its line, so its name says what the comment is about.
                let label = path.rsplit('.').next().filter(|it| it.parse::<usize>().is_err());
                let label = label.map_or_else(String::new, |it| format!("{it}: "));
                let line = format!("{}{}", marked(&label), comment.lines.join(" "));
                return (line_start, format!("{}{line}\n", indent(&text[line_start..])));
            }
            (end, format!("  {}", marked(&comment.lines.join(" "))))
        }
        CommentSpot::Above(path) => {
            let start = node(path).map_or(0, |it| it.span.start);
            let line_start = text[..start].rfind('\n').map_or(0, |it| it + 1);
            let lines: String = block(indent(&text[line_start..]));
            let parts = comment.is_apart && !opens(&text[..line_start]);
            (line_start, if parts { format!("\n{lines}") } else { lines })
        }
        CommentSpot::Below(path) => {
            let (start, end) = node(path).map_or((0, 0), |it| (it.span.start, end_of(it)));
            let line_start = text[..start].rfind('\n').map_or(0, |it| it + 1);
            let line_end = (end + line_length(&text[end..]) + 1).min(text.len());
            (line_end, block(indent(&text[line_start..])))
        }
    }
}

/// Returns the white space that a line begins with.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns whether a text ends where a blank line would be too much: at its start, behind one, or behind a bracket.
fn opens(text: &str) -> bool {
    text.trim_end().is_empty() || text.ends_with("\n\n") || text.trim_end().ends_with(['(', '[', '{'])
}

/// Returns where the last lines of a text go: in front of its last bracket in RON.
fn foot(text: &str, format: Format) -> usize {
    match format {
        Format::Toml => text.len(),
        Format::Ron => text.rfind("\n)").map_or(text.len(), |it| it + 1),
    }
}

/// Returns whether a byte is within a value without brackets.
fn is_in_leaf(node: &Node, at: usize) -> bool {
    node.entries().iter().any(|it| {
        let span = &it.value.span;
        if it.value.is_leaf() { span.start < at && at < span.end } else { is_in_leaf(&it.value, at) }
    })
}

/// Returns where a node ends; sections of TOML end behind all that they hold.
fn end_of(node: &Node) -> usize {
    let below = node.entries().iter().map(|it| end_of(&it.value)).max();
    node.span.end.max(below.unwrap_or(0))
}

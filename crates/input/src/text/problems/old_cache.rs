//! Cache rules of profiles as they were written before each rule had fields of its own.

use super::Shape;
use crate::ProfileFile;
use crate::text::decode::{Format, fields};
use crate::text::spelling;
use crate::text::tree::{Node, located};
use ctxsim_base::diag::{Code, Diagnostic};

/// The field of a profile that has them.
pub(super) const CACHE: &str = "cache";

/// Lets no type read the cache rules of a profile if they are in their old form, and shows their new form.
pub(super) fn told(root: &mut Node, text: &str, format: Format, shape: Shape) -> Option<Diagnostic> {
    let index = root.entries().iter().position(|it| it.name() == Some(CACHE))?;
    let cache = &root.entries()[index].value;
    let rules = cache.get("rules").filter(|_| shape.fields() == fields::<ProfileFile>())?;
    let message = "the name of cache rules stands before their fields, not among them";
    let problem = Diagnostic::at(Code::CacheRulesOld, "cache.rules", message);
    let problem = located(problem.help(new_form(cache, rules.word()?, text, format)), rules.span.clone());
    root.skip(&[index]);
    Some(problem)
}

/// Returns what to write for rules of a name.
fn new_form(cache: &Node, rules: &str, text: &str, format: Format) -> String {
    let is = if format == Format::Ron { ": " } else { " = " };
    let (mut fields, mut hits) = (Vec::new(), Vec::new());
    for entry in cache.entries() {
        let written = match format {
            Format::Ron => text.get(entry.value.span.clone()).unwrap_or_default().to_owned(),
            Format::Toml => spelling::value(text, &entry.value),
        };
        match entry.name() {
            None | Some("rules") => {}
            Some("hit_probability") => hits.push(format!("probability{is}{written}")),
            Some("hit_seed") => hits.push(format!("seed{is}{written}")),
            Some(field) => fields.push(format!("{field}{is}{written}")),
        }
    }
    let hits = hits.join(", ");
    match format {
        _ if hits.is_empty() => {}
        Format::Ron => fields.push(format!("hits: ({hits})")),
        Format::Toml => fields.push(format!("hits = {{ {hits} }}")),
    }
    match (rules, format) {
        ("none", Format::Ron) => "write `cache: none`".to_owned(),
        ("none", Format::Toml) => "write `cache = \"none\"`, above all tables".to_owned(),
        (_, Format::Ron) => format!("write `cache: {rules}({})`", fields.join(", ")),
        (_, Format::Toml) => {
            fields.insert(0, format!("[cache.{rules}]"));
            format!("write these lines: `{}`", fields.join("`, `"))
        }
    }
}

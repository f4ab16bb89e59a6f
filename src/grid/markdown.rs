//! Tables in Markdown.

use super::{CellKind, Grid};

/// Returns a table, below its title if it has one.
pub fn table(grid: &Grid) -> String {
    let title = if grid.title.is_empty() { String::new() } else { format!("### {}\n\n", grid.title) };
    let rule = grid.columns.iter().map(|it| if it.kind == CellKind::Number { "---:|" } else { "---|" });
    let head = line(grid.columns.iter().map(|it| it.heading.as_str()));
    let rows = grid.rows.iter().map(|it| line(it.noted().iter().map(String::as_str)));
    format!("{title}{head}|{}\n{}\n", rule.collect::<String>(), rows.collect::<String>())
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(|it| it.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Row;

    #[test]
    fn bars_are_escaped_and_notes_stand_behind_names() {
        let row = Row { cells: ["a|b", "1"].map(str::to_owned).to_vec(), note: Some("stopped".to_owned()) };

        let text = table(&Grid::new("T", 1, &["policy", "n"], [row]));

        assert_eq!(text, "### T\n\n| policy | n |\n|---|---:|\n| a\\|b (stopped) | 1 |\n\n");
    }
}

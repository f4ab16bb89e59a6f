//! The table of questions and answers, as a user writes it: `session,fact,lag,right`, and where it is known, `held`.

use ctxsim_base::diag::{Code, Diagnostic, nearest};

/// A question that an agent was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeQuestion {
    /// The session that asked it, from 0.
    pub session: u32,
    /// What it was about; answers about one fact are not independent.
    pub fact: String,
    /// How many sessions before the fact was said; 0: in the same session.
    pub lag: u32,
    /// Whether the answer was right.
    pub is_right: bool,
    /// Whether the memory held the fact, if somebody looked.
    pub held: Option<bool>,
}

/// The columns, the last of which is optional.
const COLUMNS: [&str; 5] = ["session", "fact", "lag", "right", "held"];
/// The most sessions.
const SESSIONS_MAX: u32 = 2_000;

/// A table while it is read.
struct TableReader<'t> {
    /// By column: its place in a line.
    places: [Option<usize>; COLUMNS.len()],
    separator: char,
    file: &'t str,
    problems: Vec<Diagnostic>,
}

/// Reads a table; columns are separated by commas, or by tabs.
///
/// # Errors
/// Every problem of the table, each with its line and column.
pub fn read(file: &str, text: &str) -> Result<Vec<ProbeQuestion>, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|it| !it.1.trim().is_empty());
    let (at, head) = lines.next().unwrap_or((0, ""));
    let separator = if head.contains('\t') { '\t' } else { ',' };
    let mut reader = TableReader { places: [None; COLUMNS.len()], separator, file, problems: Vec::new() };
    reader.head(at, head);
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let mut probes = Vec::new();
    for (at, line) in lines {
        probes.extend(reader.probe(at, line));
    }
    if probes.is_empty() && reader.problems.is_empty() {
        reader.report(
            (at, 0),
            Code("probes-empty"),
            "the table has no answers",
            "write one line for each question",
        );
    }
    if reader.problems.is_empty() { Ok(probes) } else { Err(reader.problems) }
}

impl TableReader<'_> {
    /// Reads the names of the columns.
    fn head(&mut self, at: usize, line: &str) {
        for (nth, cell) in line.split(self.separator).enumerate() {
            let name = clean(cell).to_lowercase();
            match COLUMNS.iter().position(|it| *it == name) {
                Some(column) if self.places[column].is_none() => self.places[column] = Some(nth),
                Some(_) => {
                    let message = format!("two columns are called `{name}`");
                    self.report((at, nth), Code("probes-columns"), message, "keep one of them");
                }
                None => {
                    let near = nearest(&name, COLUMNS.iter().copied());
                    let help = near.map_or_else(
                        || format!("remove it; the columns are `{}`", COLUMNS.join("`, `")),
                        |it| format!("did you mean `{it}`?"),
                    );
                    self.report((at, nth), Code("probes-columns"), format!("unknown column `{name}`"), &help);
                }
            }
        }
        let required = COLUMNS.iter().zip(self.places).take(COLUMNS.len() - 1);
        let missing: Vec<&str> = required.filter(|it| it.1.is_none()).map(|column| *column.0).collect();
        if !missing.is_empty() {
            let message = format!("the columns `{}` are missing", missing.join("`, `"));
            let help = "begin with a line `session,fact,lag,right`, or `session,fact,lag,right,held`";
            self.report((at, 0), Code("probes-columns"), message, help);
        }
    }

    /// Reads a line, or reports every problem of it.
    fn probe(&mut self, at: usize, line: &str) -> Option<ProbeQuestion> {
        let cells: Vec<&str> = line.split(self.separator).map(clean).collect();
        let n_known = self.problems.len();
        let session = self.count((at, 0), &cells);
        let fact = self.cell((at, 1), &cells).map(str::to_owned);
        let lag = self.count((at, 2), &cells);
        let is_right = self.flag((at, 3), &cells).flatten();
        let held = self.flag((at, 4), &cells).unwrap_or_default();
        if fact.as_deref() == Some("") {
            self.value((at, 1), "the fact has no name", "name each fact");
        }
        if is_right.is_none() && self.problems.len() == n_known {
            self.value((at, 3), "the answer is not judged", "write `yes` or `no`");
        }
        if let (Some(session), Some(lag)) = (session, lag)
            && lag > session
        {
            let message = format!("the lag {lag} reaches before the first session");
            let help = "count sessions from 0, and the lag back from the session that asks";
            self.value((at, 2), message, help);
        }
        if self.problems.len() > n_known {
            return None;
        }
        Some(ProbeQuestion { session: session?, fact: fact?, lag: lag?, is_right: is_right?, held })
    }

    fn cell<'c>(&mut self, (at, column): (usize, usize), cells: &[&'c str]) -> Option<&'c str> {
        let place = self.places[column]?;
        let cell = cells.get(place).copied();
        if cell.is_none() && COLUMNS[column] != "held" {
            let message = format!("the line has no `{}`", COLUMNS[column]);
            self.report((at, 0), Code("probes-value"), message, "give every line all columns");
        }
        cell
    }

    fn count(&mut self, place: (usize, usize), cells: &[&str]) -> Option<u32> {
        let cell = self.cell(place, cells)?;
        let number = cell.parse().ok().filter(|it| *it < SESSIONS_MAX);
        if number.is_none() {
            let message = format!("`{cell}` is not a number of sessions");
            let help = format!("write a whole number from 0 to {}", SESSIONS_MAX - 1);
            self.value(place, message, &help);
        }
        number
    }

    /// Reads yes or no; nothing of an empty cell.
    fn flag(&mut self, place: (usize, usize), cells: &[&str]) -> Option<Option<bool>> {
        let cell = self.cell(place, cells)?;
        match cell.to_lowercase().as_str() {
            "yes" | "true" | "1" | "right" => Some(Some(true)),
            "no" | "false" | "0" | "wrong" => Some(Some(false)),
            "" => Some(None),
            _ => {
                let message = format!("`{cell}` is neither yes nor no");
                self.value(place, message, "write `yes` or `no`");
                None
            }
        }
    }

    /// Reports a value in one of the columns.
    fn value(&mut self, (line, column): (usize, usize), message: impl Into<String>, help: &str) {
        self.report((line, self.places[column].unwrap_or_default()), Code("probes-value"), message, help);
    }

    fn report(&mut self, (line, column): (usize, usize), code: Code, message: impl Into<String>, help: &str) {
        let mut problem = Diagnostic::at(code, "", message).help(help);
        self.file.clone_into(&mut problem.place.file);
        problem.place.line_column = Some((line + 1, column + 1));
        self.problems.push(problem);
    }
}

/// Returns a cell without blanks and quotes around it.
fn clean(cell: &str) -> &str {
    cell.trim().trim_matches('"').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_in_any_order_of_its_columns() {
        let found = read("p.csv", "fact,right,lag,session\nbudget,yes,2,5\n\"city\",0,0,5\n").unwrap();

        assert_eq!(
            found[0],
            ProbeQuestion { session: 5, fact: "budget".into(), lag: 2, is_right: true, held: None }
        );
        assert_eq!((found[1].fact.as_str(), found[1].is_right), ("city", false));
        let held =
            read("p.tsv", "session\tfact\tlag\tright\theld\n3\ta\t1\tno\tyes\n3\tb\t1\tno\t\n").unwrap();
        assert_eq!((held[0].held, held[1].held), (Some(true), None));
    }

    #[test]
    fn every_problem_of_a_table_is_told_with_its_line() {
        let told = |text: &str| -> Vec<(usize, String)> {
            let found = read("p.csv", text).unwrap_err();
            found.into_iter().map(|it| (it.place.line_column.unwrap().0, it.message)).collect()
        };

        assert_eq!(told("").len(), 2);
        assert_eq!(told("session,fact,lag,rigth\n")[0].1, "unknown column `rigth`");
        let lines = told("session,fact,lag,right\n1,a,2,yes\nx,b,0,maybe\n1,c,0\n1,,0,yes\n");
        assert_eq!(lines.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3, 3, 4, 5]);
        assert_eq!(told("session,fact,lag,right\n")[0].1, "the table has no answers");
    }
}

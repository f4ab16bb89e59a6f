//! Outcomes of one's own: a table with an outcome for each session, read and joined with the sessions.

use crate::prelude::*;

use ctxsim_timeline::import::csv_records;

/// The columns that have a name of their own.
const SESSION: &str = "session";
const OUTCOME: &str = "outcome";
const GROUP: &str = "group";

/// What a table of outcomes looks like.
const HELP: &str = "write a table with the columns `session`, `outcome` and, to compare groups, `group`; an outcome is a number, `true` or `false`";

/// A table of outcomes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeTable {
    pub(crate) file: String,
    /// What its column of outcomes is called.
    pub(crate) outcome: String,
    lines: Vec<OutcomeLine>,
    /// Whether it says which groups there are.
    pub(crate) has_groups: bool,
}

/// The outcome of a session as a table has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OutcomeLine {
    place: (usize, usize),
    session: String,
    pub(crate) value: f64,
    pub(crate) group: String,
}

impl OutcomeTable {
    /// Reads a table.
    ///
    /// # Errors
    /// Every problem of it, each with its line and column.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let mut records = csv_records(text);
        let header: Vec<String> = records.next().map(|it| it.1).unwrap_or_default();
        let names = header.iter().map(|it| it.trim().to_lowercase()).listed();
        let place_of = |name: &str| names.iter().position(|it| it == name);
        let mut others = (0..names.len()).filter(|it| names[*it] != SESSION && names[*it] != GROUP);
        let only = others.next().filter(|_| others.next().is_none());
        let columns = [place_of(SESSION), place_of(OUTCOME).or(only)];
        let [Some(session), Some(outcome)] = columns else {
            let missing = if columns[0].is_none() { SESSION } else { OUTCOME };
            let near = nearest(missing, names.iter().map(String::as_str));
            let help = near.map_or_else(|| HELP.to_owned(), |it| format!("rename the column `{it}`; {HELP}"));
            let message = format!("no column is called `{missing}`");
            return Err(vec![table_problem(file, (1, 1), message, &help)].into());
        };
        let group = place_of(GROUP);
        let mut table = Self {
            file: file.to_owned(),
            outcome: header[outcome].trim().to_owned(),
            lines: Vec::new(),
            has_groups: group.is_some(),
        };
        let mut problems = Vec::new();
        let texts = text.lines().listed();
        for (line, cells) in records.filter(|it| it.1.iter().any(|cell| !cell.trim().is_empty())) {
            let cell = |at: usize| cells.get(at).map_or("", |it| it.trim());
            let place = |at: usize| (line, column_of(texts.get(line - 1).unwrap_or(&""), &cells, at));
            if cell(outcome).is_empty() && !cell(session).is_empty() {
                continue;
            }
            match (cell(session), parse_outcome(cell(outcome))) {
                ("", _) => {
                    problems.push(table_problem(file, place(session), "a line without a session", HELP));
                }
                (_, None) => {
                    let message = format!("`{}` is not an outcome", cell(outcome));
                    let help = "write a number, `true` or `false`";
                    problems.push(table_problem(file, place(outcome), message, help));
                }
                (name, Some(value)) => table.lines.push(OutcomeLine {
                    place: place(session),
                    session: name.to_owned(),
                    value,
                    group: group.map_or("", cell).to_owned(),
                }),
            }
        }
        if problems.is_empty() { Ok(table) } else { Err(problems.into()) }
    }

    /// Joins it with sessions, by their names or the last parts of these, and returns the outcome of each, and how many outcomes are of no session.
    ///
    /// # Errors
    /// Sessions that are misspelt, named twice, or whose short name several have.
    pub(crate) fn join_counting_rest(&self, sessions: &[&str]) -> Result<(Vec<Option<&OutcomeLine>>, usize)> {
        let mut by_name: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (nth, name) in sessions.iter().enumerate() {
            let mut names = vec![*name, last_part_of_name(name), last_part_without_extension(name)];
            names.dedup();
            names.into_iter().for_each(|it| by_name.entry(it).or_default().push(nth));
        }
        let mut found: Vec<Option<&OutcomeLine>> = vec![None; sessions.len()];
        let (mut problems, mut n_unread) = (Vec::new(), 0);
        for line in &self.lines {
            let problem = |message: String, help: &str| table_problem(&self.file, line.place, message, help);
            let name = &line.session;
            match by_name.get(name.as_str()).map(Vec::as_slice) {
                None => match nearest(name, by_name.keys().copied()) {
                    Some(near) => {
                        let help = format!("did you mean `{near}`?");
                        problems.push(problem(format!("no session is called `{name}`"), &help));
                    }
                    None => n_unread += 1,
                },
                Some([nth]) => match found[*nth] {
                    Some(before) => {
                        let message =
                            format!("session `{name}` has an outcome on line {} already", before.place.0);
                        problems.push(problem(message, "keep one line for each session"));
                    }
                    None => found[*nth] = Some(line),
                },
                Some(several) => {
                    let names = several.iter().take(3).map(|it| format!("`{}`", sessions[*it])).listed();
                    let help = format!("write the whole name, as in {}", names.join(" or "));
                    problems.push(problem(format!("several sessions are called `{name}`"), &help));
                }
            }
        }
        if problems.is_empty() { Ok((found, n_unread)) } else { Err(problems.into()) }
    }
}

/// Returns the last part of a session's name.
fn last_part_of_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns that without what a log's file ends in.
fn last_part_without_extension(name: &str) -> &str {
    let last = last_part_of_name(name);
    last.split('.').next().filter(|it| !it.is_empty()).unwrap_or(last)
}

/// Reads an outcome.
fn parse_outcome(text: &str) -> Option<f64> {
    match text.to_lowercase().as_str() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        other => other.parse().ok().filter(|it: &f64| it.is_finite()),
    }
}

/// Returns the column, from 1, in which a cell begins.
fn column_of(line: &str, cells: &[String], cell_index: usize) -> usize {
    // A cell in quotes may stand otherwise in its line, or go on in the next.
    let found = |from: usize, cell: &str| line.get(from..).and_then(|it| it.find(cell)).unwrap_or(0);
    let mut from = 0;
    for cell in cells.iter().take(cell_index) {
        from += found(from, cell) + cell.len();
    }
    let place = from + found(from, cells.get(cell_index).map_or("", |it| it.trim()));
    line.char_indices().take_while(|it| it.0 < place).count() + 1
}

fn table_problem(file: &str, at: (usize, usize), message: impl Into<String>, help: &str) -> Diagnostic {
    let mut problem = problem_in(file, Code("outcomes-broken"), message).help(help);
    problem.place.line_column = Some(at);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, sessions: &[&str]) -> String {
        let read = OutcomeTable::read("o.csv", text);
        read.and_then(|it| it.join_counting_rest(sessions).map(|_| ())).unwrap_err().to_string()
    }

    #[test]
    fn outcomes_are_numbers_or_true_and_false_by_whole_or_short_names() {
        let text = "session,solved,group\n\"p/one\",true,old\ntwo,0.5,new\nthree,,new\nelsewhere,1,new\n";
        let table = OutcomeTable::read("o.csv", text).unwrap();

        let (found, n_unread) = table.join_counting_rest(&["p/one", "q/two.traj", "q/three"]).unwrap();

        let told = found.iter().map(|it| it.map(|it| (it.value, it.group.as_str()))).listed();
        assert_eq!(told, [Some((1.0, "old")), Some((0.5, "new")), None]);
        assert_eq!((n_unread, table.outcome.as_str(), table.has_groups), (1, "solved", true));
    }

    #[test]
    fn each_problem_has_its_line_and_column_and_a_way_out() {
        let told = problems("session,outcome\none, perhaps\n,1\n", &["one"]);
        assert!(told.contains("o.csv:2:6") && told.contains("`perhaps` is not an outcome"), "{told}");
        assert!(told.contains("o.csv:3:1"), "{told}");
        let quoted = problems("session,outcome\n\"é\"\"é\né\",perhaps\n\"ü\"\"\",é\n", &["one"]);
        assert!(quoted.contains("`perhaps` is not an outcome") && quoted.contains("`é` is not"), "{quoted}");
        assert!(problems("sesion,outcome,extra\n", &[]).contains("rename the column `sesion`"));
        assert!(problems("session,outcome\nonne,1\n", &["one"]).contains("did you mean `one`?"));
        assert!(problems("session,outcome\none,1\none,1\n", &["one"]).contains("on line 2 already"));
        assert!(problems("session,outcome\none,1\n", &["a/one", "b/one"]).contains("`a/one` or `b/one`"));
    }
}

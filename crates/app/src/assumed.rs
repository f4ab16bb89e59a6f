//! Assumed numbers by name: those that the runs of a plan read, and others in their place.

use crate::prelude::*;

use super::load;
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_input::text::source::table_text;
use ctxsim_timeline::import;

/// Where the files are, and how they end.
const FILES: [&str; 2] = ["assumptions/", ".toml"];
/// The key of a number beside the ends of its interval; its name is that of the table.
const VALUE: &str = "value";
/// What in a file no run reads as a number: intervals, and where numbers come from.
const UNREAD: [&str; 8] = ["low", "high", "interval", "intervals", "seen", "as_of", "sources", "status"];
/// What loads of items read.
const OF_ITEMS: [&str; 2] = ["recovery", "user_messages"];
/// What recorded sessions read besides; their harness adds its own.
const OF_RECORDINGS: [&str; 4] = ["recorded", "harnesses.any", "images", "tokenizers"];

/// A declared file with what it says, as a tree.
struct NumbersFile {
    shipped: &'static str,
    /// Its path without folder and ending, which the names of its numbers begin with.
    name: &'static str,
    tree: Value,
}

impl NumbersFile {
    /// Reads every file, as this process has it.
    fn read_all() -> impl Iterator<Item = Self> {
        ctxsim_assumptions::all().filter_map(|(path, shipped)| {
            let name = path.strip_prefix(FILES[0])?.strip_suffix(FILES[1])?;
            let tree = decode_table(ctxsim_assumptions::current(shipped), Format::Toml).ok()?;
            Some(Self { shipped, name, tree })
        })
    }

    /// Visits each number with its name.
    fn visit_numbers(&mut self, mut visit: impl FnMut(&str, &mut Value)) {
        visit_numbers_below(&mut self.tree, self.name, &mut visit);
    }
}

/// Visits each number below a tree. A list of tables is named by their names, else counted.
fn visit_numbers_below(tree: &mut Value, name: &str, visit: &mut impl FnMut(&str, &mut Value)) {
    match tree {
        Value::Object(members) => {
            for (key, member) in members.iter_mut().filter(|it| !UNREAD.contains(&it.0.as_str())) {
                let inner = if key == VALUE { name.to_owned() } else { format!("{name}.{key}") };
                visit_numbers_below(member, &inner, visit);
            }
        }
        Value::Array(all) if all.is_empty() || all.iter().any(|it| !it.is_number()) => {
            for (nth, member) in all.iter_mut().enumerate() {
                let own = member.get("name").and_then(Value::as_str).map(str::to_owned);
                let inner = format!("{name}.{}", own.unwrap_or_else(|| nth.to_string()));
                visit_numbers_below(member, &inner, visit);
            }
        }
        Value::String(text) if !is_duration(text) => {}
        number => visit(name, number),
    }
}

/// Returns whether a text is a time, such as `10s`.
fn is_duration(text: &str) -> bool {
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit());
    unit.len() < text.len() && ["ms", "s", "m", "min", "h", "d"].contains(&unit)
}

impl Plan {
    /// Returns the assumed numbers that its runs read, by name, as this process has them: those of the files that its loads, their formats
    /// and its memories use.
    pub fn assumed_numbers_read(&self) -> IndexMap<String, String> {
        let tables: Vec<String> = self.scenarios.iter().flat_map(ReadyLoad::assumed_tables_read).listed();
        // The name is that of a file or a table, or is below it.
        let is_below = |rest: &str| rest.is_empty() || rest.starts_with(['.', '/']);
        let is_read = |name: &str| tables.iter().any(|it| name.strip_prefix(&**it).is_some_and(is_below));
        let mut read = IndexMap::new();
        for mut file in NumbersFile::read_all() {
            file.visit_numbers(|name, number| {
                if is_read(name) {
                    read.insert(name.to_owned(), number.to_string());
                }
            });
        }
        read
    }
}

impl ReadyLoad {
    /// Returns the files and tables of assumed numbers that its runs read.
    fn assumed_tables_read(&self) -> Vec<String> {
        let load = &self.spec.load;
        let mut tables: Vec<String> = match load {
            LoadSpec::Aging(_) => to_strings(&["aging/numbers", "aging/models"]),
            LoadSpec::Chats(_) => to_strings(&["memory_runners"]),
            _ => Vec::new(),
        };
        if load.is_of_items() {
            tables.extend(to_strings(&OF_ITEMS));
        }
        if let LoadSpec::Recorded { path, .. } = load {
            tables.extend(to_strings(&OF_RECORDINGS));
            let origin = load::origin_of_named_file(&self.loaded, path, load::RECORDED).ok();
            let reader = origin.and_then(|it| it.open_reader().ok());
            let format = reader.and_then(|mut it| import::detect_from(it.as_mut()).ok().flatten());
            tables.extend(format.iter().flat_map(|it| [format!("harnesses.{it}"), format!("tools/{it}")]));
        }
        let has_service = |it: &MemorySpec| matches!(it, MemorySpec::Service(_));
        if self.policies.iter().any(|it| it.memory.as_ref().is_some_and(has_service)) {
            tables.push("memory_runners".to_owned());
        }
        tables
    }
}

fn to_strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).listed()
}

/// Puts other numbers, each written as `NAME=VALUE`, in the place of assumed ones for the rest of this process, which must not have read any yet.
///
/// # Errors
/// A name that no number has, or a value that is not of the number's kind.
pub fn replace_assumed_numbers(numbers: &[String]) -> Result<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let mut files: Vec<NumbersFile> = NumbersFile::read_all().listed();
    let mut problems = Vec::new();
    let mut replaced: Vec<bool> = files.iter().map(|_| false).listed();
    for given in numbers {
        let Some((name, value)) = given.split_once('=') else {
            let message = format!("`{given}` is not NAME=VALUE");
            let help = "write a name and a number, such as `recovery.own_request=0.2`";
            problems.push(usage_problem(message, help));
            continue;
        };
        let mut found = None;
        for (file, is_replaced) in files.iter_mut().zip(&mut replaced) {
            file.visit_numbers(|place, number| {
                if place == name {
                    found = Some(replace_if_same_kind(number, value));
                    *is_replaced = true;
                }
            });
        }
        match found {
            Some(true) => {}
            Some(false) => {
                let message = format!("`{value}` cannot stand in the place of `{name}`");
                let help = "write a value of the same kind: a number, or as many numbers in brackets";
                problems.push(usage_problem(message, help));
            }
            None => problems.push(unknown_number_problem(name, &mut files)),
        }
    }
    let texts = files.iter().zip(replaced).filter(|it| it.1);
    let texts = texts.filter_map(|(it, _)| Some((it.shipped, table_text(&it.tree)?))).listed();
    if problems.is_empty() && !ctxsim_assumptions::replace(texts) {
        problems.push(usage_problem("assumed numbers can be replaced once", "name all of them at once"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}

/// Puts a value in the place of a number, if it is of the same kind.
fn replace_if_same_kind(number: &mut Value, value: &str) -> bool {
    let given = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    let is_alike = match (&*number, &given) {
        (Value::Number(own), Value::Number(given)) => own.is_f64() || !given.is_f64(),
        (Value::Array(own), Value::Array(given)) => {
            own.len() == given.len() && given.iter().all(Value::is_number)
        }
        (Value::String(_), Value::String(given)) => is_duration(given),
        (Value::Bool(_), Value::Bool(_)) => true,
        _ => false,
    };
    if is_alike {
        *number = given;
    }
    is_alike
}

fn usage_problem(message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::at(Code("usage"), "", message).help(help)
}

fn unknown_number_problem(name: &str, files: &mut [NumbersFile]) -> Diagnostic {
    let mut known = Vec::new();
    files.iter_mut().for_each(|file| file.visit_numbers(|it, _| known.push(it.to_owned())));
    let otherwise = "use the file and the key of a number in `assumptions/`, such as `recovery.own_request`";
    let help = near_or(name, known.iter().map(String::as_str), || otherwise.to_owned());
    usage_problem(format!("no assumed number is called `{name}`"), &help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_name_of_its_own_and_its_file_can_be_written_again() {
        let mut names: IndexMap<String, String> = IndexMap::new();
        for mut file in NumbersFile::read_all() {
            let text = table_text(&file.tree).unwrap_or_else(|| panic!("{}", file.name));
            let again: Value = decode_table(&text, Format::Toml).unwrap_or_default();
            assert_eq!(again, file.tree, "{}", file.name);
            file.visit_numbers(|name, number| {
                assert_eq!(names.insert(name.to_owned(), number.to_string()), None, "{name} twice");
            });
        }
        assert_eq!(names["recovery.own_request"], "0.3");
        assert_eq!(names["recovery.call_tokens"], "119");
        assert_eq!(names["recorded.needs.old_text.weight"], "0.73");
        assert_eq!(names["recorded.side_request_delay"], "\"10s\"");
        assert!(names.contains_key("harnesses.claude-code.front.fall_share"));
        assert!(!names.keys().any(|it| it.ends_with(".low") || it.contains("sources")));
    }

    #[test]
    fn a_number_is_replaced_by_one_of_its_kind_alone() {
        let tried = |number: &str, value: &str| {
            replace_if_same_kind(&mut serde_json::from_str(number).unwrap(), value)
        };

        assert!(tried("0.3", "1") && tried("0.3", "0.25") && tried("119", "7") && tried("[1, 2]", "[3, 4]"));
        assert!(tried("\"10s\"", "20s") && tried("true", "false"));
        assert!(!tried("119", "7.5") && !tried("[1, 2]", "[3]"));
        assert!(!tried("0.3", "much") && !tried("\"10s\"", "3"));
    }
}

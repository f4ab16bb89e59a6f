//! A settings file with some values changed, and everything else in it byte for byte as it was.
//!
//! A change is made in the text. The result is read again and must say what it said before, apart from the change; else nothing is changed.

use std::ops::Range;

use crate::prelude::*;
use serde_json::value::RawValue;

use super::agents::{Agent, AgentSetting, SettingsForm};
use super::stated::{FileSettings, JsonKeyPlace, leading_blanks, locate_json_key, offset_of_part};
use ctxsim_report::advise::saved::{FormerValue, SavingsForecast};

/// A settings file with some values changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub text: String,
    /// The lines that go, and those that come.
    pub diff: [Vec<String>; 2],
    /// What was there before; empty of what was undone.
    pub former: Vec<FormerValue>,
    /// What a reader must know: variables that outrank what was written.
    pub notes: Vec<String>,
}

/// The text of a file, in which values are changed.
struct FileText<'f> {
    file: &'f str,
    text: String,
    form: SettingsForm,
}

/// Writes the settings of a forecast into a file.
///
/// # Errors
/// The file cannot be read, a setting belongs elsewhere or does not take its value, or the change cannot be made without touching the rest.
pub fn apply_forecast(saved: &SavingsForecast, file: &str, text: &str) -> Result<ChangedFile> {
    let agent = agent_of_forecast(saved, file)?;
    let said = FileSettings::read(agent, file, text)?;
    let (mut now, mut former, mut notes) = (FileText::new(agent, file, text), Vec::new(), Vec::new());
    for (key, value) in saved.set.iter().filter_map(|it| it.split_once('=')) {
        let Some(setting) = agent.setting(key) else { continue };
        if setting.form != now.form {
            let message = format!("`{key}` is not a setting of this file; it belongs into {}", setting.at);
            return Err(setting_error(file, message, "change it by hand, as `ctxsim advise` writes it"));
        }
        let value = format_setting_value(setting, value);
        let change = now.set_value(key, &value)?;
        // What could not be put back must not be replaced.
        let wrong_value =
            change.before.iter().chain([&value]).find_map(|it| refused_value_message(setting, it));
        if let Some(message) = wrong_value {
            return Err(setting_error(file, message, format!("write what it takes: {}", setting.range)));
        }
        former.push(change);
        if let Some(variable) = said.outranking_variable(setting) {
            notes.push(format!("`{variable}` in this file outranks `{key}` and was left as it is: remove it, or the change does nothing."));
        }
    }
    Ok(ChangedFile { diff: changed_lines(text, &now.text), text: now.text, former, notes })
}

/// Puts back what was in a file before a forecast was applied to it. A forecast may come from anybody, so only settings of its agent are put
/// back, to values that they take.
///
/// # Errors
/// Nothing was applied, the forecast names what is not such a setting or not such a value, or the file no longer says what was written.
pub fn undo_forecast(saved: &SavingsForecast, file: &str, text: &str) -> Result<ChangedFile> {
    let agent = agent_of_forecast(saved, file)?;
    let mut now = FileText::new(agent, file, text);
    if saved.former.is_empty() {
        let message = "this forecast was not applied to a settings file, so there is nothing to undo";
        return Err(setting_error(file, message, "use a forecast that `--apply --save FILE` wrote"));
    }
    let mut problems = Vec::new();
    for change in &saved.former {
        let setting = agent.setting(&change.key).filter(|it| it.form == now.form);
        let message = match setting {
            Some(setting) => change.before.iter().find_map(|it| refused_value_message(setting, it)),
            None => Some(format!("`{}` is not a setting of {} in such a file", change.key, agent.name)),
        };
        problems.extend(message.map(|it| setting_problem(file, it, FOREIGN)));
    }
    fail_if_any(problems)?;
    for change in saved.former.iter().rev() {
        let found = now.find_value(&change.key).map(|at| now.text[at].to_owned());
        if !found.as_ref().is_some_and(|own| is_same_value(own, &change.written)) {
            let has = found.map_or_else(|| "is not there".to_owned(), |own| format!("is `{own}`"));
            let message = format!("`{}` {has}, but `{}` was applied", change.key, change.written);
            return Err(setting_error(file, message, "somebody has changed it since: change it by hand"));
        }
        match &change.before {
            Some(before) => drop(now.set_value(&change.key, before)?),
            None => now.remove_key(&change.key, &change.made)?,
        }
    }
    let diff = changed_lines(text, &now.text);
    Ok(ChangedFile { diff, text: now.text, former: Vec::new(), notes: Vec::new() })
}

/// What to do with a forecast that `--apply` cannot have written.
const FOREIGN: &str =
    "nothing was changed, because `--apply` writes no such forecast: look at it, and change the file by hand";

/// Says that a setting does not take a value, written as in its file; none if it takes it. A value stands in one line, and has no letter that
/// begins anything else there.
fn refused_value_message(setting: &AgentSetting, value: &str) -> Option<String> {
    let is_plain = value.chars().all(|it| it.is_ascii_alphanumeric() || "_.-\"'".contains(it));
    let leaf = match setting.form {
        SettingsForm::Env => Some(Value::from(value.trim_matches(['"', '\'']))),
        form => parse_value(form, value),
    };
    let is_taken = |leaf: Value| match leaf {
        Value::Null => true,
        Value::String(text) => setting.accepts_value(&text),
        other => setting.accepts_value(&other.to_string()),
    };
    let is_sound = is_plain && leaf.is_some_and(is_taken);
    (!is_sound).then(|| format!("`{value}` is not a value of `{}`", setting.key))
}

/// Returns the agent of a forecast.
///
/// # Errors
/// It is not known.
pub fn agent_of_forecast(saved: &SavingsForecast, file: &str) -> Result<&'static Agent> {
    let found = Agent::all_by_file_name()?.values().find(|it| it.name == saved.agent);
    let message = || format!("no settings of an agent `{}` are known", saved.agent);
    found.ok_or_else(|| problem_in(file, Code("setting-value"), message()).into())
}

/// Writes a value as its file does.
fn format_setting_value(setting: &AgentSetting, value: &str) -> String {
    let is_plain = !setting.is_text && serde_json::from_str::<Value>(value).is_ok();
    if is_plain || setting.form == SettingsForm::Env {
        value.to_owned()
    } else {
        Value::from(value).to_string()
    }
}

/// Returns whether two texts are one value.
fn is_same_value(one: &str, other: &str) -> bool {
    let value = |it: &str| serde_json::from_str::<Value>(it).ok();
    one == other || value(one).is_some() && value(one) == value(other)
}

impl<'f> FileText<'f> {
    fn new(agent: &Agent, file: &'f str, text: &str) -> Self {
        let is_json = text.trim_start().starts_with('{') || text.trim().is_empty();
        let forms = agent.settings.iter().map(|it| it.form);
        let form = match is_json && forms.clone().any(|it| it == SettingsForm::Json) {
            true => SettingsForm::Json,
            false => forms.clone().find(|it| *it != SettingsForm::Json).unwrap_or(SettingsForm::Json),
        };
        let text = if form == SettingsForm::Json && text.trim().is_empty() { "{}\n" } else { text };
        Self { file, text: text.to_owned(), form }
    }

    /// Returns where the value of a key stands.
    fn find_value(&self, key: &str) -> Option<Range<usize>> {
        match self.form {
            SettingsForm::Json => match locate_json_key(&self.text, key) {
                JsonKeyPlace::Found(at) => Some(at),
                _ => None,
            },
            _ => {
                let line = self.find_line(key)?;
                let (before, after) = self.text[line.clone()].split_once('=')?;
                let start = line.start + before.len() + 1 + after.len() - after.trim_start().len();
                // A remark may stand behind it.
                let value = after.trim();
                let end = match value.strip_prefix('"') {
                    Some(rest) => rest.find('"').map(|it| it + 2),
                    None => value.find('#'),
                };
                Some(start..start + value[..end.unwrap_or(value.len())].trim_end().len())
            }
        }
    }

    /// Returns the line, without its end, that sets a key at the top of a list of variables or of a TOML file.
    fn find_line(&self, key: &str) -> Option<Range<usize>> {
        let (mut at, mut found) = (0, None);
        for line in self.text.split_inclusive('\n') {
            let own = line.trim_end_matches(['\n', '\r']);
            if self.form == SettingsForm::Toml && own.trim_start().starts_with('[') {
                break;
            }
            let name = own.trim_start().trim_start_matches("export ").split('=').next().unwrap_or_default();
            if own.contains('=') && name.trim() == key {
                found = Some(at..at + own.len());
            }
            at += line.len();
        }
        found
    }

    /// Writes a value; returns what stood there.
    fn set_value(&mut self, key: &str, value: &str) -> Result<FormerValue> {
        let mut former =
            FormerValue { key: key.to_owned(), written: value.to_owned(), before: None, made: String::new() };
        let text = match (self.find_value(key), self.form) {
            (Some(at), _) => {
                former.before = Some(self.text[at.clone()].to_owned());
                replace_range(&self.text, at, value)
            }
            (None, SettingsForm::Json) => {
                let JsonKeyPlace::Missing { object, indent, depth } = locate_json_key(&self.text, key) else {
                    return Err(self.unsafe_change_error(key));
                };
                former.made = key.split('.').take(depth + 1).listed().join(".");
                with_member_added(&self.text, object, &indent, &key.split('.').skip(depth).listed(), value)
            }
            (None, form) => {
                key.clone_into(&mut former.made);
                let line = match form {
                    SettingsForm::Env => format!("export {key}={value}"),
                    _ => format!("{key} = {value}"),
                };
                self.with_line_added(&line)
            }
        };
        self.accept_change(key, text, Some(value))?;
        Ok(former)
    }

    /// Adds a line: to variables behind all others, to TOML before the first table.
    fn with_line_added(&self, line: &str) -> String {
        let is_table = |it: &&str| self.form == SettingsForm::Toml && it.trim_start().starts_with('[');
        let lines = self.text.split_inclusive('\n');
        let at: usize = lines.take_while(|it| !is_table(it)).map(str::len).sum();
        let (before, after) = self.text.split_at(at);
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        format!("{before}{end}{line}\n{after}")
    }

    /// Takes a key out, with what was made for it.
    fn remove_key(&mut self, key: &str, top_created_key: &str) -> Result<()> {
        let text = match self.form {
            SettingsForm::Json => {
                let mut text =
                    without_member(&self.text, key).ok_or_else(|| self.unsafe_change_error(key))?;
                // What holds nothing any more, and was made for this.
                let mut steps: Vec<&str> = key.split('.').collect();
                while steps.len() > top_created_key.split('.').count() {
                    steps.pop();
                    let above = steps.join(".");
                    let JsonKeyPlace::Found(at) = locate_json_key(&text, &above) else { break };
                    if !is_same_value(&text[at], "{}") {
                        break;
                    }
                    text = without_member(&text, &above).ok_or_else(|| self.unsafe_change_error(key))?;
                }
                text
            }
            _ => {
                let line = self.find_line(key).ok_or_else(|| self.unsafe_change_error(key))?;
                let rest = &self.text[line.end..];
                let end = rest.find('\n').map_or(rest.len(), |it| it + 1);
                replace_range(&self.text, line.start..line.end + end, "")
            }
        };
        self.accept_change(key, text, None)
    }

    /// Takes a changed text over, if nothing but the key changed in it.
    fn accept_change(&mut self, key: &str, new_text: String, expected_value: Option<&str>) -> Result<()> {
        let is_sound = match self.form {
            SettingsForm::Env => true,
            form => {
                let (before, after) = (parse_document(form, &self.text), parse_document(form, &new_text));
                before.zip(after).is_some_and(|(before, after)| {
                    let expected = expected_value.and_then(|it| parse_value(form, it));
                    let steps: Vec<&str> =
                        if form == SettingsForm::Json { key.split('.').collect() } else { vec![key] };
                    value_at_path(&after, &steps) == expected.as_ref()
                        && without_key(before, &steps) == without_key(after.clone(), &steps)
                })
            }
        };
        if !is_sound {
            return Err(self.unsafe_change_error(key));
        }
        self.text = new_text;
        Ok(())
    }

    fn unsafe_change_error(&self, key: &str) -> Error {
        let message = format!("`{key}` cannot be changed here without touching the rest of the file");
        setting_error(self.file, message, "change it by hand, as `ctxsim advise` writes it")
    }
}

/// Reads a text whole.
fn parse_document(form: SettingsForm, text: &str) -> Option<Value> {
    match form {
        SettingsForm::Json => serde_json::from_str(text).ok(),
        _ => decode_table(text, Format::Toml).ok(),
    }
}

fn parse_value(form: SettingsForm, text: &str) -> Option<Value> {
    match form {
        SettingsForm::Json => serde_json::from_str(text).ok(),
        _ => value_at_path(&parse_document(form, &format!("it = {text}"))?, &["it"]).cloned(),
    }
}

fn value_at_path<'v>(value: &'v Value, steps: &[&str]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |it, step| it.get(step))
}

/// Returns a document without a key, and without what holds nothing for want of it.
fn without_key(mut value: Value, steps: &[&str]) -> Value {
    if let (Some((first, rest)), Value::Object(members)) = (steps.split_first(), &mut value) {
        let inner = members.remove(*first).map(|it| without_key(it, rest)).filter(|_| !rest.is_empty());
        let is_left = |it: &Value| it.as_object().is_none_or(|it| !it.is_empty());
        members.extend(inner.filter(is_left).map(|it| ((*first).to_owned(), it)));
    }
    value
}

fn replace_range(text: &str, at: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..at.start], &text[at.end..])
}

/// Adds a member to an object, behind its others and indented as they are.
fn with_member_added(text: &str, object: Range<usize>, indent: &str, steps: &[&str], value: &str) -> String {
    let members: IndexMap<String, &RawValue> =
        serde_json::from_str(&text[object.clone()]).unwrap_or_default();
    let last = members.values().map(|it| offset_of_part(text, it.get()) + it.get().len()).max();
    let (own, comma) = match last {
        Some(_) => (leading_blanks(&text[object.start + 1..]).to_owned(), ","),
        None => (format!("{indent}  "), ""),
    };
    let own = if own.is_empty() && last.is_some() { " ".to_owned() } else { own };
    let member = nested_member_text(steps, &own, value);
    match last {
        Some(end) => replace_range(text, end..end, &format!("{comma}{own}{member}")),
        None => replace_range(text, object, &format!("{{{own}{member}{indent}}}")),
    }
}

/// Writes a member, with objects around its value.
fn nested_member_text(steps: &[&str], indent: &str, value: &str) -> String {
    let Some((first, rest)) = steps.split_first() else { return value.to_owned() };
    let key = Value::from(*first);
    if rest.is_empty() {
        return format!("{key}: {value}");
    }
    let deeper = if indent.contains('\n') { format!("{indent}  ") } else { " ".to_owned() };
    format!("{key}: {{{deeper}{}{indent}}}", nested_member_text(rest, &deeper, value))
}

/// Takes a member out of its object; `None` where its key is written in a way that is not looked for.
fn without_member(text: &str, key: &str) -> Option<String> {
    let JsonKeyPlace::Found(value) = locate_json_key(text, key) else { return None };
    let name = Value::from(key.rsplit('.').next()?).to_string();
    let before = text[..value.start].trim_end().strip_suffix(':')?.trim_end().strip_suffix(&name)?;
    let after = &text[value.end..];
    let gap = before.trim_end();
    if let Some(rest) = gap.strip_suffix(',') {
        return Some(format!("{rest}{after}"));
    }
    if let Some(rest) = after.trim_start().strip_prefix(',') {
        return Some(format!("{before}{}", rest.trim_start()));
    }
    Some(format!("{gap}{}", after.trim_start()))
}

/// Returns the lines that go, and those that come.
fn changed_lines(before: &str, after: &str) -> [Vec<String>; 2] {
    let [old, new]: [Vec<&str>; 2] = [before, after].map(|it| it.lines().collect());
    let head = old.iter().zip(&new).take_while(|it| it.0 == it.1).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|it| it.0 == it.1).count();
    [old, new].map(|it| it[head..it.len() - tail].iter().map(|it| (*it).to_owned()).listed())
}

fn setting_error(file: &str, message: impl Into<String>, help: impl Into<String>) -> Error {
    vec![setting_problem(file, message, help)].into()
}

fn setting_problem(file: &str, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    problem_in(file, Code("setting-value"), message).help(help)
}

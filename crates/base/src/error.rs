//! The public error type.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::diag::{Code, Diagnostic, nearest};

/// Why an input could not be used or an output could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Inputs are invalid; lists every problem in every file.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Diagnostic>),
    /// A name is not in the catalog.
    #[error("unknown {kind} `{name}`{}", suggestions.first().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    UnknownName {
        /// `policy`, `scenario`, `profile` or `suite`.
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The nearest known name, or the names that contain it.
        suggestions: Vec<String>,
        /// The kind of input that does have this name.
        other_kind: Option<&'static str>,
    },
    /// The caller stopped the runs.
    #[error("the runs were stopped before all of them were made")]
    Stopped,
    /// A run failed.
    #[error("{0}")]
    Run(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Vec<Diagnostic>> for Error {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self::Invalid(problems)
    }
}

impl From<Diagnostic> for Error {
    fn from(problem: Diagnostic) -> Self {
        Self::Invalid(vec![problem])
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(problem: Box<Diagnostic>) -> Self {
        (*problem).into()
    }
}

impl Error {
    /// Makes an error of a problem that is in no file.
    pub fn refused(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Diagnostic::at(code, "", message).help(help).into()
    }

    /// Returns the error's problems.
    pub fn problems(&self) -> Vec<Diagnostic> {
        match self {
            Self::Invalid(problems) => problems.clone(),
            other => vec![other.problem()],
        }
    }

    /// Returns the error as a single problem.
    pub fn into_problem(self) -> Diagnostic {
        match self {
            Self::Invalid(mut problems) if problems.len() == 1 => problems.remove(0),
            other => other.problem(),
        }
    }

    /// Returns the error as a single problem; several are combined into one message.
    pub fn problem(&self) -> Diagnostic {
        match self {
            Self::Invalid(_) => Diagnostic::at(Code("invalid"), "", self.to_string()),
            Self::Run(_) => Diagnostic::at(Code("run-failed"), "", self.to_string()),
            Self::Stopped => Diagnostic::at(Code("run-stopped"), "", self.to_string()),
            Self::Read { path, source } => unread(path, source),
            Self::Write { path, source } => unwritten(path, source),
            Self::UnknownName { kind, name, suggestions, other_kind } => {
                let is_unlike = suggestions.is_empty() && other_kind.is_none();
                let or_file = if is_unlike { ", and no file or folder with this name exists" } else { "" };
                let message = format!("unknown {kind} `{name}`{or_file}");
                let problem = Diagnostic::at(Code("unknown-name"), "", message);
                let words = (suggestions.as_slice(), other_kind);
                problem.help(match words {
                    ([], Some(other)) => format!("`{name}` is a {other}: use `--{other} {name}`"),
                    ([], None) if !cfg!(feature = "bundled") => {
                        "this build of ctxsim has no bundled inputs: enable its feature `bundled`, or check the path"
                            .to_owned()
                    }
                    ([], None) if name.contains(['/', '.']) => {
                        "check the path; `ctxsim list` shows the bundled names".to_owned()
                    }
                    ([], None) => "run `ctxsim list` to see all names".to_owned(),
                    ([one], _) => format!("did you mean `{one}`?"),
                    ([first, second, rest @ ..], _) => {
                        let both = if rest.is_empty() {
                            format!("`{first}` or `{second}`")
                        } else {
                            format!("`{first}`, `{second}` or {} more", rest.len())
                        };
                        format!("did you mean {both}? `ctxsim list --filter {name}` shows all")
                    }
                })
            }
        }
    }
}

/// Makes a problem of a whole file.
fn of_file(path: &Path, message: &str, help: &str) -> Diagnostic {
    Diagnostic::at(Code("file"), "", message).in_file(path.display().to_string()).help(help)
}

/// Explains why a file cannot be read.
fn unread(path: &Path, source: &io::Error) -> Diagnostic {
    let problem = |message: &str, help: &str| of_file(path, message, help);
    match source.kind() {
        ErrorKind::NotFound if path.to_string_lossy().contains(['*', '?']) => {
            problem("no file matches this pattern", "check the pattern; `**` matches folders at any depth")
        }
        ErrorKind::NotFound => {
            let near = beside(path).map(|it| format!("did you mean `{}`?", it.display()));
            problem("no such file or folder", near.as_deref().unwrap_or("check the path"))
        }
        ErrorKind::IsADirectory => problem("expected a file, but this is a folder", "name a file in it"),
        ErrorKind::InvalidData => {
            let help = "save it as UTF-8, or check that you named the right file";
            problem("the file is not valid UTF-8", help)
        }
        ErrorKind::PermissionDenied => {
            problem("no permission to read it", "change its permissions, or ask its owner")
        }
        ErrorKind::FileTooLarge => {
            problem(&source.to_string(), "save the part that you need in a file of its own")
        }
        _ => problem(&format!("cannot read it: {source}"), "check the path and its permissions"),
    }
}

/// Explains why a file cannot be written.
fn unwritten(path: &Path, source: &io::Error) -> Diagnostic {
    let problem = |message: &str, help: &str| of_file(path, message, help);
    match source.kind() {
        ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path).display();
            let message = format!("the folder `{folder}` does not exist");
            problem(&message, &format!("run `mkdir -p {folder}` first"))
        }
        ErrorKind::IsADirectory => {
            let help = format!("name a file in it, such as `{}`", path.join("report.json").display());
            problem("expected a file, but this is a folder", &help)
        }
        // A folder was to be made where a file is, or a file was to be written below one.
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            let blocking = path.ancestors().find(|it| it.is_file()).unwrap_or(path).display();
            let help = format!("choose another folder, or move `{blocking}` away");
            problem(&format!("expected a folder, but `{blocking}` is a file"), &help)
        }
        ErrorKind::PermissionDenied => {
            problem("no permission to write it", "name another file, or change its permissions")
        }
        ErrorKind::StorageFull => problem("the disk is full", "free some space, or write to another disk"),
        _ => problem(&format!("cannot write it: {source}"), "check the path and its permissions"),
    }
}

/// Returns the file of the same folder whose name is nearest to a wrong one.
fn beside(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries.filter_map(|it| it.ok()?.file_name().into_string().ok()).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.map_or_else(|| PathBuf::from(near), |it| it.join(near)))
}

#[cfg(all(test, not(feature = "bundled")))]
mod lean_tests {
    use super::*;

    #[test]
    fn a_lean_build_names_the_feature_that_has_the_bundled_inputs() {
        for (kind, name) in [("policy", "identity"), ("profile", "anthropic/claude-opus-4.5")] {
            let unknown =
                Error::UnknownName { kind, name: name.to_owned(), suggestions: Vec::new(), other_kind: None };

            assert!(unknown.into_problem().help.unwrap().contains("enable its feature `bundled`"), "{name}");
        }
    }
}

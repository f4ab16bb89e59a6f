//! The one public error.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, nearest};

/// Why an input could not be used or an output not be written.
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
    /// Inputs are wrong; every problem of every file.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Diagnostic>),
    /// A name is not in the catalog.
    #[error("no {kind} is called `{name}`{}", suggestions.first().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    UnknownName {
        /// `policy`, `scenario`, `profile` or `suite`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest known name, or those with the wrong one in it.
        suggestions: Vec<String>,
        /// The kind of input that has this name instead.
        other_kind: Option<&'static str>,
    },
    /// A run came to no result.
    #[error("{0}")]
    Run(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Vec<Diagnostic>> for Error {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self::Invalid(problems)
    }
}

impl Error {
    /// Returns the error as one problem of a list.
    #[must_use]
    pub fn into_problem(self) -> Diagnostic {
        match self {
            Self::Invalid(mut problems) if problems.len() == 1 => problems.remove(0),
            other => other.problem(),
        }
    }

    /// Returns the error as one problem; several are told in one message.
    #[must_use]
    pub fn problem(&self) -> Diagnostic {
        match self {
            Self::Invalid(_) | Self::Run(_) => Diagnostic::at("invalid", "", self.to_string()),
            Self::Read { path, source } => of_file(path, unread(path, source)),
            Self::Write { path, source } => of_file(path, unwritten(path, source)),
            Self::UnknownName { kind, name, suggestions, other_kind } => {
                let is_unlike = suggestions.is_empty() && other_kind.is_none();
                let or_file = if is_unlike { ", and there is no such file or folder" } else { "" };
                let message = format!("no {kind} is called `{name}`{or_file}");
                let problem = Diagnostic::at("unknown-name", "", message);
                let words = (suggestions.as_slice(), other_kind);
                problem.help(match words {
                    ([], Some(other)) => format!("`{name}` is a {other}: use `--{other} {name}`"),
                    ([], None) if name.contains(['/', '.']) => {
                        "check the path; `ctxsim list` names what is bundled".to_owned()
                    }
                    ([], None) => "`ctxsim list` names what there is".to_owned(),
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

/// What is wrong, and what to do about it.
type Words = (String, String);

/// Makes a problem of a whole file.
fn of_file(path: &Path, (message, help): Words) -> Diagnostic {
    let mut problem = Diagnostic::at("file", "", message);
    problem.place.file = path.display().to_string();
    problem.help(help)
}

/// Says why a file cannot be read.
fn unread(path: &Path, source: &io::Error) -> Words {
    let (message, help) = match source.kind() {
        ErrorKind::NotFound => {
            if path.to_string_lossy().contains(['*', '?']) {
                let help = "check the pattern; `**` stands for folders of any depth".to_owned();
                return ("no file matches this pattern".to_owned(), help);
            }
            let help = match beside(path) {
                Some(near) => format!("did you mean `{}`?", near.display()),
                None => "check the path".to_owned(),
            };
            return ("no such file or folder".to_owned(), help);
        }
        ErrorKind::IsADirectory => ("this is a folder, and a file is wanted", "name a file in it"),
        ErrorKind::InvalidData => {
            ("the file has non-UTF-8 bytes", "save it as UTF-8, or check that it is the file you meant")
        }
        ErrorKind::PermissionDenied => ("you may not read it", "ask its owner, or change its permissions"),
        _ => return (format!("cannot read it: {source}"), "check the path and the permissions".to_owned()),
    };
    (message.to_owned(), help.to_owned())
}

/// Says why a file cannot be written.
fn unwritten(path: &Path, source: &io::Error) -> Words {
    let (message, help) = match source.kind() {
        ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path).display();
            return (
                format!("the folder `{folder}` does not exist"),
                format!("run `mkdir -p {folder}` first"),
            );
        }
        ErrorKind::IsADirectory => {
            let inside = path.join("report.json");
            let help = format!("name a file in it, as in `{}`", inside.display());
            return ("this is a folder, and a file is wanted".to_owned(), help);
        }
        // A folder was to be made where a file is, or a file was to be written below one.
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            let blocking = path.ancestors().find(|it| it.is_file()).unwrap_or(path).display();
            return (
                format!("`{blocking}` is a file, and a folder is needed there"),
                format!("choose another folder, or move `{blocking}` out of the way"),
            );
        }
        ErrorKind::PermissionDenied => {
            ("you may not write it", "name another file, or change the permissions")
        }
        ErrorKind::StorageFull => ("the disk is full", "free some space, or name a file on another disk"),
        _ => return (format!("cannot write it: {source}"), "check the path and the permissions".to_owned()),
    };
    (message.to_owned(), help.to_owned())
}

/// Returns the file of the same folder whose name is nearest to a wrong one.
fn beside(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries.filter_map(|it| it.ok()?.file_name().into_string().ok()).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.map_or_else(|| PathBuf::from(near), |it| it.join(near)))
}

//! The project that a command runs in: which files are its own, and which paths lead on through one of its links.

use crate::prelude::*;
use std::ffi::OsStr;
use std::path::{self, Component};
use std::sync::OnceLock;

/// The folder of a repository whose files are git's: settings with passwords among them.
pub(super) const GIT: &str = ".git";

/// A project: whoever wrote its files need not be who runs the command.
pub(super) struct Project {
    /// The top of the work tree, else the working folder; `None` if that cannot be found, and then every link may be the project's.
    root: Option<PathBuf>,
    /// The arguments of the command: what they name is the user's own.
    arguments: Vec<OsString>,
}

/// The project of the working folder.
static HERE: OnceLock<Project> = OnceLock::new();

impl Project {
    /// Takes note of what the command line names.
    pub(super) fn remember_arguments(arguments: &[OsString]) {
        let here = Self { arguments: arguments.to_vec(), ..Self::find_around(Path::new(".")) };
        // A second command in one process is a test's, and names no less.
        let _ = HERE.set(here);
    }

    /// Returns the project of the working folder.
    pub(super) fn of_working_folder() -> &'static Self {
        HERE.get_or_init(|| Self::find_around(Path::new(".")))
    }

    /// Returns the project that a folder belongs to.
    pub(super) fn find_around(folder: &Path) -> Self {
        let folder = fs::canonicalize(folder).ok();
        let top = folder.as_deref().and_then(work_tree_top).map(Path::to_owned);
        Self { root: top.or(folder), arguments: Vec::new() }
    }

    /// Returns whether a file is the project's own, wherever its path seems to lead; git's files are not.
    pub(super) fn owns_file(&self, path: &Path) -> bool {
        let (Some(root), Ok(real)) = (&self.root, fs::canonicalize(path)) else { return false };
        real.strip_prefix(root).is_ok_and(|it| it.components().all(|part| part.as_os_str() != GIT))
    }

    /// Returns whether a file's text may be shown: it is the project's own, or is named on the command line, or stands in a named folder
    /// or beside a named input.
    pub(super) fn may_show_text(&self, path: &Path) -> bool {
        let Ok(real) = fs::canonicalize(path) else { return false };
        let mut shown = self.arguments.iter().filter_map(|it| self.path_allowed_by_argument(it));
        self.owns_file(path) || shown.any(|it| real.starts_with(it))
    }

    /// Returns what an argument opens to the user: a folder, that of an input, or a file; nothing that a link of the project leads to.
    fn path_allowed_by_argument(&self, argument: &OsStr) -> Option<PathBuf> {
        let text = argument.to_string_lossy();
        let value = text.strip_prefix("--").and_then(|it| it.split_once('=')).map_or(&*text, |it| it.1);
        // Of a pattern, the folder that it begins with.
        let plain = value.split(['*', '?', '[']).next().filter(|it| *it != value);
        let path = match plain {
            Some(plain) => plain.rsplit_once('/').map(|it| Path::new(it.0))?,
            None => Path::new(value),
        };
        let real = fs::canonicalize(path).ok().filter(|_| self.first_project_symlink_on(path).is_none())?;
        match Format::from_path(&real) {
            Some(_) if real.is_file() => real.parent().map(Path::to_owned),
            _ => Some(real),
        }
    }

    /// Returns the first link of the project that a path leads through.
    pub(super) fn first_project_symlink_on(&self, path: &Path) -> Option<PathBuf> {
        // Only the working folder's own path may fail here, and then no link can be found either.
        let path = path::absolute(path).ok()?;
        let mut real = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir => real.push(part),
                Component::Normal(name) => {
                    let next = real.join(name);
                    if !next.is_symlink() {
                        real = next;
                    } else if self.root.as_ref().is_none_or(|root| real.starts_with(root)) {
                        return Some(next);
                    } else {
                        // What stands above or beside the project is the user's: `/tmp` is a link on some systems.
                        real = fs::canonicalize(&next).unwrap_or(next);
                    }
                }
            }
        }
        None
    }
}

/// Returns the top of the work tree that a real folder belongs to. A folder whose own files make it a bare repository is not one: any
/// checkout may hold such files, but none holds a `.git`.
pub(super) fn work_tree_top(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|it| it.join(GIT).symlink_metadata().is_ok())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_of_the_project_is_found_on_a_path_and_links_above_it_are_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("disk/project/.git")).unwrap();
        fs::create_dir_all(at("disk/project/below")).unwrap();
        fs::create_dir(at("other")).unwrap();
        symlink(at("disk"), at("home")).unwrap();
        symlink("../../other", at("disk/project/out")).unwrap();
        symlink("nothing", at("disk/project/below/dangling")).unwrap();
        let project = Project::find_around(&at("home/project/below"));

        for clean in ["home/project/below/x", "disk/project/below/../new/x", "home/project/../../other/x"] {
            assert_eq!(project.first_project_symlink_on(&at(clean)), None, "{clean}");
        }
        for (path, link) in [
            ("home/project/out/x", "disk/project/out"),
            ("disk/project/below/../out/../x", "disk/project/out"),
            ("home/project/below/dangling", "disk/project/below/dangling"),
        ] {
            assert_eq!(project.first_project_symlink_on(&at(path)), Some(at(link)), "{path}");
        }
    }

    #[test]
    fn a_file_is_the_projects_own_by_where_it_is_and_not_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("project/.git")).unwrap();
        for file in ["project/own.toml", "project/.git/config", "secret.toml"] {
            fs::write(at(file), "").unwrap();
        }
        symlink("../secret.toml", at("project/link.toml")).unwrap();
        symlink(".git/config", at("project/config.toml")).unwrap();
        let project = Project::find_around(&at("project"));

        assert!(project.owns_file(&at("project/own.toml")));
        for foreign in ["secret.toml", "project/link.toml", "project/config.toml", "project/.git/config"] {
            assert!(!project.owns_file(&at(foreign)), "{foreign}");
        }
    }
}

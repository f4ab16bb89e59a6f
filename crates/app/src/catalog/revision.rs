//! Policies of another revision of the user's repository: texts read from git, and where their programs are checked out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Origin;

/// The prefix of a policy's name in another revision.
pub const REVISION_MARK: &str = "rev:";

/// The policy files of a folder in a revision.
#[derive(Debug, PartialEq, Eq)]
pub struct Revision {
    /// The user's name for it: a branch, a tag, a commit.
    name: String,
    /// The folder, as the user's paths begin.
    folder: PathBuf,
    /// The texts, by path below the folder.
    files: BTreeMap<PathBuf, String>,
    /// Where the folder is checked out, if programs in it may start.
    checkout: Option<PathBuf>,
}

impl Revision {
    /// Takes the texts of a folder, by path below it.
    pub fn new(name: &str, folder: &Path, files: BTreeMap<PathBuf, String>) -> Self {
        Self { name: name.to_owned(), folder: folder.to_owned(), files, checkout: None }
    }

    /// Returns the same revision with its folder checked out.
    pub fn checked_out(&self, folder: PathBuf) -> Self {
        let Self { name, folder: own, files, .. } = self;
        Self { name: name.clone(), folder: own.clone(), files: files.clone(), checkout: Some(folder) }
    }

    /// Returns the user's name for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all files, by path below the folder.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns a file's name in diagnostics, in git's notation: the revision, a colon, the path.
    pub(super) fn label(&self, path: &Path) -> String {
        format!("{}:{}", self.name, self.folder.join(path).display())
    }

    /// Returns the text of a file by its name in diagnostics.
    pub(super) fn labelled(&self, label: &str) -> Option<&str> {
        self.files.iter().find(|(path, _)| self.label(path) == label).map(|(_, text)| text.as_str())
    }
}

impl Origin {
    /// Returns the folder of the file on disk; `None` if it is not there.
    pub(super) fn folder_on_disk(&self) -> Option<PathBuf> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Revision(revision, path) => revision.checkout.as_ref()?.join(path),
            Self::Stream(it) => it.path.clone(),
            Self::Bundled(_) | Self::Memory(_) | Self::Built(_) => return None,
        };
        path.parent().map(Path::to_owned)
    }

    /// Returns the policy of the same revision with a given name; `None` outside revisions.
    pub(super) fn named_in_revision(&self, name: &str) -> Option<Self> {
        let Self::Revision(revision, _) = self else { return None };
        let paths = ["ron", "toml"].map(|it| PathBuf::from(format!("{name}.{it}")));
        let path = paths.into_iter().find(|it| revision.text(it).is_some())?;
        Some(Self::Revision(revision.clone(), path))
    }
}

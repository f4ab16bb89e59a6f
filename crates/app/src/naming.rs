//! Distinct names for a report's inputs, as short as possible.

use std::path::{Path, PathBuf};

use ctxsim_base::list::Listed as _;
use indexmap::IndexMap;

/// The number of letters that identify a session.
const ID_LETTERS: usize = 8;

/// The names that an input may have, the shortest first.
#[derive(Clone, Debug)]
pub(super) struct NameChoices(Vec<String>);

impl NameChoices {
    /// An input whose name is sufficient.
    pub(super) fn fixed(name: &str) -> Self {
        Self(vec![name.to_owned()])
    }

    /// A file with its own name; its path distinguishes it from others of that name.
    pub(super) fn of_file(name: &str, path: &Path) -> Self {
        let mut names = vec![name.to_owned()];
        names.extend(ends(path, &file_name(path)));
        Self(names)
    }

    /// A recorded session: its folder and the first letters of its identifier, or its file's name.
    pub(super) fn of_recording(path: &Path) -> Self {
        let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let mut names = Vec::new();
        let folder = path.parent().and_then(Path::file_name).map(|it| it.to_string_lossy().into_owned());
        if let (true, Some(folder)) = (is_uuid(&stem), folder) {
            // A name that begins like an option could not be given to one.
            let folder = folder.trim_start_matches('-').to_owned();
            names.push(format!("{folder}/{}", &stem[..ID_LETTERS]));
            names.push(format!("{folder}/{stem}"));
        } else {
            names.push(stem.clone());
        }
        names.extend(ends(path, &stem));
        names.push(path.display().to_string());
        Self(names)
    }
}

/// Returns the names of recordings, by their paths.
pub fn names_of_recordings(paths: &[PathBuf]) -> Vec<String> {
    told_apart(&paths.iter().map(|it| NameChoices::of_recording(it)).listed())
}

/// Returns for each input its shortest unique name; inputs with equal names are numbered.
pub(super) fn told_apart(inputs: &[NameChoices]) -> Vec<String> {
    let mut levels = vec![0; inputs.len()];
    loop {
        let mut shared: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (index, NameChoices(names)) in inputs.iter().enumerate() {
            shared.entry(&names[levels[index]]).or_default().push(index);
        }
        let mut has_grown = false;
        for index in shared.into_values().filter(|it| it.len() > 1).flatten() {
            if levels[index] + 1 < inputs[index].0.len() {
                levels[index] += 1;
                has_grown = true;
            }
        }
        if !has_grown {
            break;
        }
    }
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    let names = inputs.iter().zip(levels).map(|(NameChoices(names), level)| {
        let count = counts.entry(&names[level]).or_default();
        *count += 1;
        if *count == 1 { names[level].clone() } else { format!("{}#{count}", names[level]) }
    });
    names.listed()
}

/// Returns a path's ends, the shortest first, with something in the place of the file's name.
fn ends(path: &Path, name: &str) -> Vec<String> {
    let mut ends = vec![name.to_owned()];
    let folders = path.parent().into_iter().flat_map(Path::components).rev();
    for folder in folders {
        let longer = format!("{}/{}", folder.as_os_str().to_string_lossy(), ends[ends.len() - 1]);
        ends.push(longer.replacen("//", "/", 1));
    }
    ends
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns whether a name is an identifier as harnesses give sessions: 8, 4, 4, 4 and 12 hexadecimal digits.
fn is_uuid(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').listed();
    let is_hex = |it: &&str| it.bytes().all(|it| it.is_ascii_hexdigit());
    parts.iter().all(is_hex) && parts.iter().map(|it| it.len()).eq([8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        told_apart(&paths.iter().map(|it| NameChoices::of_recording(Path::new(it))).collect::<Vec<_>>())
    }

    #[test]
    fn a_session_is_called_by_its_folder_and_the_head_of_its_identifier() {
        let paths = [
            "p/-home-me-src/0a1b2c3d-1111-2222-3333-444455556666.jsonl",
            "p/other/0a1b2c3d-1111-2222-3333-444455556666.jsonl",
            "p/other/notes.jsonl",
        ];

        assert_eq!(named(&paths), ["home-me-src/0a1b2c3d", "other/0a1b2c3d", "notes"]);
    }

    #[test]
    fn equal_names_grow_until_they_differ() {
        assert_eq!(named(&["one/a.jsonl", "two/a.jsonl", "b.jsonl"]), ["one/a", "two/a", "b"]);
        assert_eq!(named(&["x/one/a.jsonl", "y/one/a.jsonl"]), ["x/one/a", "y/one/a"]);
        assert_eq!(named(&["a.jsonl", "a.json"]), ["a.jsonl", "a.json"]);
        let twice = [NameChoices::fixed("p"), NameChoices::of_file("p", Path::new("mine/p.ron"))];
        assert_eq!(told_apart(&twice), ["p", "p.ron"]);
    }
}

//! Whose session a log is, and of which project, as its working folder shows.

/// Folders that hold the worktrees of a checkout.
const WORKTREES: [&str; 3] = ["/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/"];

/// A user and a project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HomeFolders {
    /// The user's home; empty where the folder is in none.
    pub(super) user: String,
    /// The folder; that of the checkout, where it is a worktree of one.
    pub(super) project: String,
}

/// Returns the user and the project of a working folder.
pub(super) fn home_folders(folder: &str) -> HomeFolders {
    let plain = folder.replace('\\', "/");
    let checkout = WORKTREES.iter().filter_map(|it| plain.find(it)).min().unwrap_or(plain.len());
    HomeFolders {
        user: user_of(&plain).to_owned(),
        project: plain[..checkout].trim_end_matches('/').to_owned(),
    }
}

/// Returns the home that a folder is in; empty where it is in none.
pub fn user_of(folder: &str) -> &str {
    let is_in = |root: &str| folder == root || folder.starts_with(&format!("{root}/"));
    if is_in("/root") {
        return "/root";
    }
    // A drive may stand in front, as in `C:/Users/ann`.
    let from = folder.find(':').filter(|it| *it == 1).map_or(0, |at| at + 1);
    let Some(root) = ["/Users/", "/home/"].iter().find(|it| folder[from..].starts_with(**it)) else {
        return "";
    };
    let start = from + root.len();
    let end = folder[start..].find('/').map_or(folder.len(), |it| start + it);
    if end == start { "" } else { &folder[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_the_home_and_worktrees_are_of_their_checkout() {
        let told = |folder| {
            let HomeFolders { user, project } = home_folders(folder);
            (user, project)
        };
        let pair = |user: &str, project: &str| (user.to_owned(), project.to_owned());

        assert_eq!(told("/Users/ann/work/cli"), pair("/Users/ann", "/Users/ann/work/cli"));
        assert_eq!(told("/home/bob/cli/.worktrees/2/src"), pair("/home/bob", "/home/bob/cli"));
        assert_eq!(told("/home/bob/cli/.claude/worktrees/x"), pair("/home/bob", "/home/bob/cli"));
        assert_eq!(told(r"C:\Users\eve\cli"), pair("C:/Users/eve", "C:/Users/eve/cli"));
        assert_eq!(told("/root/x/"), pair("/root", "/root/x"));
        assert_eq!(told("/workspace"), pair("", "/workspace"));
        assert_eq!(told(""), pair("", ""));
        assert_eq!(told("/Users/Users/x"), pair("/Users/Users", "/Users/Users/x"));
    }
}

//! Names with `*` for any run of characters.

/// Returns whether a name matches one of several patterns.
pub fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| wildcard(pattern, name))
}

/// Returns whether a name matches a pattern in which `*` matches any run of characters.
pub fn wildcard(pattern: &str, name: &str) -> bool {
    // Most patterns are names.
    if !pattern.as_bytes().contains(&b'*') {
        return pattern == name;
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|it| name.strip_prefix(it)) else { return false };
    let Some(end) = parts.next_back() else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(wildcard("process_*", "process_read"));
        assert!(wildcard("*", ""));
        assert!(wildcard("a*b*c", "a--b--c"));
        assert!(!wildcard("process_*", "read_file"));
        assert!(!wildcard("read", "read_file"));
        assert!(!wildcard("a*b", "ab-"));
    }
}

//! Lists of breaches that a rule tolerates, with reasons. They may only shrink.

use crate::Breach;
use crate::sources::SourceFile;
use std::collections::BTreeMap;

/// Breaches in one file that a rule tolerates.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// The file's path.
    pub file: &'static str,
    /// Their exact number.
    pub count: usize,
    /// Why they are tolerated.
    pub reason: &'static str,
}

/// Removes the tolerated breaches, and adds one for each entry that allows more than were found.
pub(crate) fn except(breaches: Vec<(&SourceFile, Breach)>, allowed: &[Allowed]) -> Vec<Breach> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (file, _) in &breaches {
        *counts.entry(file.path.as_str()).or_default() += 1;
    }
    let count = |file: &str| counts.get(file).copied().unwrap_or(0);
    let covers =
        |file: &str| allowed.iter().any(|entry| entry.file == file && count(file) <= entry.count);
    let mut left: Vec<Breach> = breaches
        .iter()
        .filter(|(file, _)| !covers(&file.path))
        .map(|(_, breach)| breach.clone())
        .collect();
    for entry in allowed.iter().filter(|entry| count(entry.file) < entry.count) {
        let what = format!(
            "allowed are {}, found {}: the list must shrink",
            entry.count,
            count(entry.file)
        );
        left.push(Breach { place: entry.file.to_owned(), what });
    }
    left
}

#[cfg(test)]
mod tests {
    use super::{Allowed, except};
    use crate::sources::planted;

    #[test]
    fn exactly_what_is_listed_passes() {
        let files = planted(&[("a.rs", ""), ("b.rs", "")]);
        let breach = |file: usize, line| (&files[file], files[file].breach(line, "x"));
        let left = |breaches: &[_], count| {
            let allowed = [Allowed { file: "a.rs", count, reason: "a test" }];
            except(breaches.to_vec(), &allowed)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<String>>()
        };
        assert_eq!(left(&[breach(0, 1), breach(0, 2)], 2), [""; 0]);
        assert_eq!(left(&[breach(0, 1), breach(1, 7)], 1), ["b.rs:7: x"]);
        assert_eq!(left(&[breach(0, 1), breach(0, 2)], 1), ["a.rs:1: x", "a.rs:2: x"]);
        assert_eq!(
            left(&[breach(0, 1)], 2),
            ["a.rs: allowed are 2, found 1: the list must shrink"]
        );
    }
}

//! Scopes, and which scopes imply others.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The maximum length of a scope in bytes.
const SCOPE_BYTES_MAX: usize = 256;

/// The maximum number of scopes that imply others or are implied: one bit of a mask each.
pub(super) const IMPLIED_MAX: usize = 64;

/// Returns whether this is a scope by
/// [RFC 6749](https://www.rfc-editor.org/rfc/rfc6749#section-3.3): 1 to 256 bytes of visible ASCII
/// without `"` and `\`.
pub(super) fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=SCOPE_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Adds a scope that is not in the list yet.
pub(super) fn insert(scopes: &mut Vec<Box<str>>, scope: &str) {
    if !scopes.iter().any(|known| **known == *scope) {
        scopes.push(scope.to_owned().into_boxed_str());
    }
}

/// Which scopes imply others, directly or through others.
#[derive(Clone, Debug, Default)]
pub(super) struct Implications {
    names: Vec<Box<str>>,
    /// For each name, the names that it implies, one bit each.
    implied: Vec<u64>,
}

impl Implications {
    /// Adds that `broad` implies `narrow`. Returns false if there are too many scopes.
    pub(super) fn add(&mut self, broad: &str, narrow: &str) -> bool {
        let (Some(broad), Some(narrow)) = (self.number(broad), self.number(narrow)) else {
            return false;
        };
        if let Some(mask) = self.implied.get_mut(broad) {
            *mask |= 1 << narrow;
        }
        true
    }

    /// Returns the number of a scope, which is added if it is new and there is room.
    fn number(&mut self, scope: &str) -> Option<usize> {
        if let Some(number) = self.names.iter().position(|name| **name == *scope) {
            return Some(number);
        }
        if self.names.len() == IMPLIED_MAX {
            return None;
        }
        self.names.push(scope.to_owned().into_boxed_str());
        self.implied.push(0);
        Some(self.names.len() - 1)
    }

    /// Adds what the implied scopes imply themselves. Cycles are allowed.
    // Warshall's algorithm: after step `via`, all paths through the first names are included.
    pub(super) fn close(&mut self) {
        for via in 0..self.names.len() {
            let beyond = self.implied.get(via).copied().unwrap_or_default();
            for mask in &mut self.implied {
                if *mask & (1 << via) != 0 {
                    *mask |= beyond;
                }
            }
        }
    }

    /// Returns the valid scopes among `granted`, each once, with all scopes that they imply.
    // AUT-30.
    pub(super) fn expand(&self, granted: Vec<Box<str>>) -> Vec<Box<str>> {
        let mut scopes = Vec::with_capacity(granted.len());
        let mut implied = 0;
        for scope in granted.into_iter().filter(|scope| is_scope(scope)) {
            if !scopes.contains(&scope) {
                let number = self.names.iter().position(|name| *name == scope);
                implied |= number.and_then(|number| self.implied.get(number)).copied().unwrap_or(0);
                scopes.push(scope);
            }
        }
        for (number, name) in self.names.iter().enumerate() {
            if implied & (1 << number) != 0 {
                insert(&mut scopes, name);
            }
        }
        scopes
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn expanded(implications: &Implications, granted: &[&str]) -> Vec<Box<str>> {
        implications.expand(granted.iter().map(|scope| (*scope).into()).collect())
    }

    #[test]
    fn scopes_have_the_characters_of_rfc_6749() {
        for scope in ["a", "files:read", "https://h/a.b", "!#[]~", &"x".repeat(256)] {
            assert!(is_scope(scope), "{scope}");
        }
        for scope in ["", "a b", "a\"", "a\\", "a\n", "ä", &"x".repeat(257)] {
            assert!(!is_scope(scope), "{scope}");
        }
    }

    // AUT-30
    #[test]
    fn broad_scopes_imply_narrow_ones_through_others_and_not_the_other_way_aut_30() {
        let mut implications = Implications::default();
        // In the order that needs the closure most.
        for (broad, narrow) in [("c", "d"), ("b", "c"), ("a", "b"), ("x", "y"), ("y", "x")] {
            assert!(implications.add(broad, narrow));
        }
        implications.close();
        for (granted, expected) in [
            (&["a"][..], &["a", "b", "c", "d"][..]),
            (&["d"], &["d"]),
            (&["y"], &["y", "x"]),
            (&["other", "c", "other"], &["other", "c", "d"]),
            (&["", "a b", "\""], &[]),
        ] {
            let mut scopes = expanded(&implications, granted);
            let mut expected: Vec<Box<str>> = expected.iter().map(|it| (*it).into()).collect();
            scopes.sort();
            expected.sort();
            assert_eq!(scopes, expected, "{granted:?}");
        }
    }

    #[test]
    fn at_most_64_scopes_imply_others_or_are_implied() {
        let mut implications = Implications::default();
        for number in 0..63 {
            assert!(implications.add(&format!("s{number}"), &format!("s{}", number + 1)));
        }
        assert!(!implications.add("s0", "one more"));
        assert!(implications.add("s63", "s0"));
        implications.close();
        assert_eq!(expanded(&implications, &["s5"]).len(), 64);
    }
}

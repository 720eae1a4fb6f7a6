//! Checks the order of files inside a room: imports lead to the file's own level or a lower one.

use super::Edge;
use crate::Breach;
use crate::sources::SourceFile;
use std::collections::BTreeSet;

/// The levels of one room.
///
/// A level lists files and folders relative to the room, without `.rs`: `outcome` is `outcome.rs`
/// or the whole folder `outcome`, and `mod` is the room's own `mod.rs`. The longest matching entry
/// decides a file's level.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The room's folder, with a trailing `/`.
    pub room: &'static str,
    /// The lowest level first.
    pub levels: &'static [&'static [&'static str]],
}

/// Finds upward imports inside a room, files without a level, and entries that match no file.
///
/// `edges` are those of all `files`.
#[must_use]
pub fn climbs(files: &[SourceFile], edges: &BTreeSet<Edge>, order: &Order) -> Vec<Breach> {
    let inside = |file: &SourceFile| !file.is_test && file.path.starts_with(order.room);
    let mut breaches = Vec::new();
    if !files.iter().any(inside) {
        return vec![Breach {
            place: order.room.to_owned(),
            what: "an order for a room without files".into(),
        }];
    }
    for file in files.iter().filter(|file| inside(file)) {
        if level(order, &file.path).is_none() {
            breaches.push(
                file.breach(1, format!("no level of the order of `{}` has this file", order.room)),
            );
        }
    }
    for entry in order.levels.iter().flat_map(|level| level.iter()) {
        if !files.iter().any(|file| inside(file) && fits(order, entry, &file.path)) {
            let what = format!("`{entry}` in the order of this room names no file");
            breaches.push(Breach { place: order.room.to_owned(), what });
        }
    }
    for edge in edges {
        let (from, to) = (&files[edge.from], &files[edge.to]);
        let (Some(upper), Some(lower)) = (level(order, &from.path), level(order, &to.path)) else {
            continue;
        };
        if lower > upper {
            let what =
                format!("`{}` climbs from level {upper} to {} (level {lower})", edge.path, to.path);
            breaches.push(from.breach(edge.line, what));
        }
    }
    breaches
}

fn level(order: &Order, path: &str) -> Option<usize> {
    let entries =
        order.levels.iter().enumerate().flat_map(|(n, level)| level.iter().map(move |it| (n, it)));
    let fitting = entries.filter(|(_, entry)| fits(order, entry, path));
    fitting.max_by_key(|(_, entry)| entry.len()).map(|(level, _)| level)
}

fn fits(order: &Order, entry: &str, path: &str) -> bool {
    let rest = path.strip_prefix(order.room).and_then(|path| path.strip_prefix(entry));
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{Order, climbs};
    use crate::imports::edges;
    use crate::sources::planted;

    const ORDER: Order = Order {
        room: "a/src/room/",
        levels: &[&["low", "folder/low"], &["folder", "next"], &["mod"]],
    };

    fn found(texts: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![
            ("a/src/lib.rs", "mod room;"),
            (
                "a/src/room/mod.rs",
                "mod low; mod next; mod folder; pub use low::Low; pub struct Router;",
            ),
            ("a/src/room/low.rs", "pub struct Low;"),
            ("a/src/room/next.rs", "use super::Low; pub struct Next;"),
            (
                "a/src/room/folder/mod.rs",
                "mod low; use crate::room::next::Next; pub struct Folder;",
            ),
            ("a/src/room/folder/low.rs", "pub struct Deep;"),
        ];
        for (path, text) in texts {
            all.retain(|(old, _)| old != path);
            all.push((path, text));
        }
        let files = planted(&all);
        climbs(&files, &edges(&files), &ORDER).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn imports_that_go_down_or_stay_are_fine() {
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn a_climb_is_reported() {
        assert_eq!(
            found(&[("a/src/room/low.rs", "\nuse super::next::Next; pub struct Low;")]),
            ["a/src/room/low.rs:2: `super::next::Next` climbs from level 0 to \
                                 a/src/room/next.rs (level 1)"]
        );
        assert_eq!(found(&[("a/src/room/next.rs", "use super::Router;")]).len(), 1);
        assert_eq!(found(&[("a/src/room/folder/low.rs", "use super::Folder;")]).len(), 1);
        assert_eq!(
            found(&[(
                "a/src/room/next.rs",
                "pub struct Next; #[cfg(test)] mod tests { use crate::room::Router; }"
            )])
            .len(),
            0
        );
    }

    #[test]
    fn a_file_without_a_level_and_an_entry_without_a_file_are_reported() {
        assert!(found(&[("a/src/room/new.rs", "")])[0].contains("no level"));
        let files = planted(&[("a/src/room/mod.rs", ""), ("a/src/room/low.rs", "")]);
        assert_eq!(climbs(&files, &edges(&files), &ORDER).len(), 3);
        assert_eq!(climbs(&[], &edges(&[]), &ORDER).len(), 1);
    }
}

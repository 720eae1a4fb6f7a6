//! Requirement ids: where they are cited, and whether the list of requirements has each of them.

use crate::Breach;
use crate::sources::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// The areas that ids start with; `T` marks a trap, `D` a reading of a contradiction.
const AREAS: &[&str] = &[
    "AUT", "BAT", "CAN", "CAP", "D", "FRM", "HTTP", "ID", "JSON", "LIF", "LOG", "PAG", "PRG",
    "SEC", "SSE", "STL", "T", "TMO", "TSK",
];

/// A requirement id, such as the seventh of the area `CAN`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Id {
    area: &'static str,
    number: u32,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{:02}", self.area, self.number)
    }
}

/// One citation: an id, or a range of ids in one area.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Citation {
    area: &'static str,
    numbers: RangeInclusive<u32>,
}

impl Citation {
    /// Returns the ids that the citation spells out: one, or both ends of a range.
    fn ends(&self) -> BTreeSet<Id> {
        let ends = [*self.numbers.start(), *self.numbers.end()];
        ends.into_iter().map(|number| Id { area: self.area, number }).collect()
    }

    /// Returns every id that the citation covers.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> {
        let area = self.area;
        self.numbers.clone().map(move |number| Id { area, number })
    }

    fn covers(&self, id: Id) -> bool {
        self.area == id.area && self.numbers.contains(&id.number)
    }
}

/// Returns the citations in a text, in order.
///
/// A range is written with an ellipsis between two numbers, the second with or without the area.
pub(crate) fn citations(text: &str) -> Vec<Citation> {
    let mut citations = Vec::new();
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let inside_word = before.is_some_and(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        let found = (!inside_word).then(|| citation(rest)).flatten();
        let taken = found.as_ref().map_or_else(|| first.len_utf8(), |(_, length)| *length);
        citations.extend(found.map(|(citation, _)| citation));
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    citations
}

/// Reads a citation at the start of `text`, and its length in bytes.
fn citation(text: &str) -> Option<(Citation, usize)> {
    let (area, start, mut length) = id(text)?;
    let mut end = start;
    if let Some(tail) = text[length..].strip_prefix('…') {
        let last = id(tail).filter(|(other, ..)| *other == area);
        let last = last.map(|(_, number, length)| (number, length)).or_else(|| number(tail));
        if let Some((last, taken)) = last {
            end = last;
            length += '…'.len_utf8() + taken;
        }
    }
    Some((Citation { area, numbers: start..=end }, length))
}

fn id(text: &str) -> Option<(&'static str, u32, usize)> {
    let (word, rest) = text.split_once('-')?;
    let area = AREAS.iter().find(|area| **area == word)?;
    let (number, digits) = number(rest)?;
    Some((*area, number, area.len() + 1 + digits))
}

/// Reads a number of two or three digits.
fn number(text: &str) -> Option<(u32, usize)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let follows_word = text[digits..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let number = text[..digits].parse().ok()?;
    ((2..=3).contains(&digits) && !follows_word).then_some((number, digits))
}

/// Returns the id of an entry, a line `| id | …`.
pub(crate) fn entry(line: &str) -> Option<Id> {
    let cell = line.strip_prefix("| ")?.split(" |").next()?;
    let (area, number, length) = id(cell)?;
    (length == cell.len()).then_some(Id { area, number })
}

/// Compares the ids that the sources cite with the entries of the list.
///
/// An entry is a line `| id | …`. Reports ids without an entry, entries without a citation or a
/// reason for having none, duplicate entries, and entries out of order within their area.
#[must_use]
pub fn unlisted(files: &[SourceFile], path: &str, list: &str) -> Vec<Breach> {
    let mut entries: BTreeMap<Id, (usize, bool)> = BTreeMap::new();
    let mut breaches = Vec::new();
    let mut previous: Option<Id> = None;
    for (n, line) in list.lines().enumerate() {
        let Some(id) = entry(line) else { continue };
        let place = format!("{path}:{}", n + 1);
        if previous.is_some_and(|previous| previous.area == id.area && previous > id) {
            breaches.push(Breach { place: place.clone(), what: format!("{id} is out of order") });
        }
        if entries.insert(id, (n + 1, line.contains("| – "))).is_some() {
            breaches.push(Breach { place, what: format!("{id} has a second entry") });
        }
        previous = Some(id);
    }
    let mut cited = Vec::new();
    for file in files {
        for (n, line) in file.text.lines().enumerate() {
            for citation in citations(line) {
                let missing = citation.ends().into_iter().filter(|id| !entries.contains_key(id));
                breaches.extend(
                    missing.map(|id| file.breach(n + 1, format!("{id} has no entry in {path}"))),
                );
                cited.push(citation);
            }
        }
    }
    for (id, (line, has_reason)) in entries {
        if !has_reason && !cited.iter().any(|citation| citation.covers(id)) {
            let place = format!("{path}:{line}");
            breaches.push(Breach { place, what: format!("no source cites {id}") });
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::{citations, unlisted};
    use crate::sources::planted;

    /// Ids are assembled here, so that this file cites none.
    fn id(area: &str, number: &str) -> String {
        format!("{area}-{number}")
    }

    fn cited(text: &str) -> Vec<(&'static str, u32, u32)> {
        let citations = citations(text).into_iter();
        citations.map(|c| (c.area, *c.numbers.start(), *c.numbers.end())).collect()
    }

    #[test]
    fn ids_and_ranges_are_found() {
        let (a, b) = (id("CAN", "03"), id("T", "101"));
        assert_eq!(cited(&format!("x ({a}, {b})")), [("CAN", 3, 3), ("T", 101, 101)]);
        assert_eq!(
            cited(&format!("{a}…07, {a}…{}", id("CAN", "09"))),
            [("CAN", 3, 7), ("CAN", 3, 9)]
        );
        assert_eq!(cited(&format!("{a}…{b}")).len(), 2);
    }

    #[test]
    fn other_words_with_a_dash_are_not_ids() {
        for text in
            ["SHA-256", "UTF-8", "X-01", "T-1", "T-1234", "xT-12", "a-T-12", "T-12a", "t-12"]
        {
            assert_eq!(cited(text), [], "{text}");
        }
    }

    #[test]
    fn sources_and_list_must_agree() {
        let found = |source: &str, list: &str| -> Vec<String> {
            let files = planted(&[("a.rs", source)]);
            unlisted(&files, "L.md", list).iter().map(ToString::to_string).collect()
        };
        let [a, b, c] = ["03", "04", "05"].map(|number| id("CAN", number));
        let both = format!("# Cancel\n| {a} | x |\n| {b} | y |");
        assert_eq!(found(&format!("// {a}, {b}"), &both), [""; 0]);
        assert_eq!(found(&format!("// {a}…{b}"), &both), [""; 0]);
        assert_eq!(found(&format!("// {a}"), &both), [format!("L.md:3: no source cites {b}")]);
        assert_eq!(
            found(&format!("// {a} {b}\n// {c}"), &both),
            [format!("a.rs:2: {c} has no entry in L.md")]
        );
        let swapped = format!("| {b} | y |\n| {a} | x |\n| {a} | x |");
        assert_eq!(
            found(&format!("// {a} {b}"), &swapped),
            [format!("L.md:2: {a} is out of order"), format!("L.md:3: {a} has a second entry")]
        );
    }
}

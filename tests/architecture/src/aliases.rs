//! Collects the names an enum and its variants have in a file, through `use … as`, `type` and
//! `const`.

use crate::imports::modules::{Import, imports};
use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, reads};
use std::collections::BTreeSet;

/// The names of an enum and of its variants, in all files together.
#[derive(Clone, Debug)]
pub(crate) struct Aliases {
    /// Names of the enum itself; its own name is the first.
    types: Vec<String>,
    /// Names of variants that can be used without the enum's name.
    values: Vec<String>,
}

/// The aliases that one file can use.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    all: &'a Aliases,
    /// The names in scope; others need a path before them.
    free: BTreeSet<String>,
}

impl Aliases {
    /// Collects the names that any of these files gives to the enum.
    pub(crate) fn new(files: &[SourceFile], name: &str) -> Self {
        let mut aliases = Self { types: vec![name.to_owned()], values: Vec::new() };
        let sources: Vec<(&SourceFile, Vec<Import>)> =
            files.iter().filter(|file| !file.is_test).map(|file| (file, leaves(file))).collect();
        // Each round resolves one more level of aliases of aliases.
        loop {
            let before = aliases.types.len() + aliases.values.len();
            for (file, imports) in &sources {
                aliases.add_imports(imports);
                aliases.add_items(&file.tokens);
            }
            if aliases.types.len() + aliases.values.len() == before {
                return aliases;
            }
        }
    }

    /// The names that are in scope somewhere in this file.
    pub(crate) fn within(&self, file: &SourceFile) -> Scope<'_> {
        let imports = leaves(file);
        let has_glob = imports.iter().any(|import| import.name.is_none());
        let bound: BTreeSet<&str> =
            imports.iter().filter_map(|import| import.name.as_deref()).collect();
        let defines = |name: &str| {
            let is_item =
                |word| (0..file.tokens.len()).any(|at| reads(&file.tokens, at, &[word, name]));
            is_item("const") || is_item("static") || is_item("type")
        };
        let in_scope = |name: &&String| has_glob || bound.contains(name.as_str()) || defines(name);
        let mut free: BTreeSet<String> =
            self.types.iter().chain(&self.values).filter(in_scope).cloned().collect();
        free.insert(self.types[0].clone());
        Scope { all: self, free }
    }

    fn add_imports(&mut self, imports: &[Import]) {
        for import in imports {
            let (Some(name), Some((last, rest))) = (&import.name, import.path.split_last()) else {
                continue;
            };
            let of_enum = rest.last().is_some_and(|parent| self.types.contains(parent));
            if self.types.contains(last) {
                add(&mut self.types, name);
            } else if of_enum || self.values.contains(last) {
                add(&mut self.values, name);
            }
        }
    }

    /// Adds `type X = Enum;` and `const X: Enum = …`.
    fn add_items(&mut self, tokens: &[Token]) {
        for at in 0..tokens.len() {
            let (is_type, is_value) =
                (tokens[at].is("type"), tokens[at].is("const") || tokens[at].is("static"));
            if !(is_type || is_value) || tokens[at].in_test {
                continue;
            }
            let Some(name) = tokens.get(at + 1).filter(|name| name.kind == Kind::Ident) else {
                continue;
            };
            let sign = if is_type { "=" } else { ":" };
            if !reads(tokens, at + 2, &[sign]) {
                continue;
            }
            let mut end = at + 3;
            while reads(tokens, end + 1, &["::"]) {
                end += 2;
            }
            let stop = if is_type { ";" } else { "=" };
            let is_enum = tokens.get(end).is_some_and(|token| self.types.contains(&token.text));
            if is_enum && reads(tokens, end + 1, &[stop]) {
                let names = if is_type { &mut self.types } else { &mut self.values };
                add(names, &name.text);
            }
        }
    }
}

impl Scope<'_> {
    /// Returns the token range of the path around the variant named at `at`.
    pub(crate) fn mention(&self, tokens: &[Token], at: usize) -> Option<(usize, usize)> {
        let name = &tokens[at].text;
        if tokens[at].kind != Kind::Ident || (at > 0 && tokens[at - 1].is(".")) {
            return None;
        }
        let mut start = at;
        while start >= 2 && tokens[start - 1].is("::") && tokens[start - 2].kind == Kind::Ident {
            start -= 2;
        }
        // After a module's name, every alias can follow; after a type's name, only a variant of the
        // enum.
        let is_after_type = start < at && tokens[at - 2].text.starts_with(char::is_uppercase);
        if is_after_type || (start == at && !self.free.contains(name)) {
            return None;
        }
        let continues = reads(tokens, at + 1, &["::"]);
        if continues && self.all.types.contains(name) {
            Some((start, at + 3))
        } else if !continues && self.all.values.contains(name) {
            Some((start, at + 1))
        } else {
            None
        }
    }
}

fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

fn leaves(file: &SourceFile) -> Vec<Import> {
    imports(&file.tokens).into_iter().map(|(_, import)| import).collect()
}

#[cfg(test)]
mod tests {
    use super::Aliases;
    use crate::sources::planted;

    /// Returns the mentions in `b.rs`.
    fn mentions(text: &str) -> Vec<String> {
        let table = "pub enum Revision { V1, V2 } pub(crate) use Revision::{V1 as R1, V2 as R2};";
        let files = planted(&[
            ("mcp-proto/src/revision.rs", table),
            (
                "mcp-proto/src/a.rs",
                "pub(crate) use crate::revision::{Revision as Rev, R2 as Newest};",
            ),
            ("mcp-proto/src/b.rs", text),
        ]);
        let tokens = &files[2].tokens;
        let aliases = Aliases::new(&files, "Revision");
        let aliases = aliases.within(&files[2]);
        let found = (0..tokens.len()).filter_map(|at| aliases.mention(tokens, at));
        let show = |(start, end): (usize, usize)| {
            tokens[start..end.min(tokens.len())]
                .iter()
                .map(|token| token.text.as_str())
                .collect::<String>()
        };
        found.map(show).filter(|text| !text.starts_with("crate")).collect()
    }

    #[test]
    fn every_name_of_a_variant_is_a_mention() {
        for (text, mention) in [
            ("f(Revision::V1)", "Revision::V1"),
            ("use crate::revision::R1; f(R1)", "R1"),
            ("use crate::revision::*; f(R1)", "R1"),
            ("use crate::revision::{self, R1 as Oldest}; f(Oldest)", "Oldest"),
            ("use crate::a::Newest; f(Newest)", "Newest"),
            ("use crate::a::Newest as Latest; f(Latest)", "Latest"),
            ("use crate::a::Rev; f(Rev::V2)", "Rev::V2"),
            ("use crate::revision::Revision as R; f(R::V2)", "R::V2"),
            ("use crate::revision; f(revision::R1)", "revision::R1"),
            ("use crate::a; f(a::Rev::V1)", "a::Rev::V1"),
            ("type Version = crate::revision::Revision; f(Version::V1)", "Version::V1"),
            ("const FIRST: crate::revision::Revision = g(); f(FIRST)", "FIRST"),
        ] {
            assert_eq!(mentions(text).last().map(String::as_str), Some(mention), "{text}");
        }
    }

    #[test]
    fn equal_names_of_other_items_are_not_mentions() {
        for text in [
            "f(R1)",
            "x.R1",
            "use b::R3; f(R3)",
            "use crate::revision::R1; f(Other::R1)",
            "Rev::V1",
        ] {
            assert_eq!(mentions(text), [""; 0], "{text}");
        }
    }
}

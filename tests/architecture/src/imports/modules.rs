//! The module tree of the library crates: what each module defines, imports and contains.
//!
//! Names that only exist after macro expansion are not included.

use crate::lexer::Kind;
use crate::sources::{SourceFile, Token, closing, nesting, reads};
use std::collections::{BTreeMap, BTreeSet};

/// The modules of all crates, by key: `mcp-proto/src` is a crate's root, `mcp-proto/src/json/raw` a
/// module in it.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    modules: BTreeMap<String, Module>,
}

/// One module. Inline modules share the file around them.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file that holds the module, as an index into the files given to [`Modules::new`].
    pub(crate) file: usize,
    pub(crate) items: Vec<Item>,
    pub(crate) imports: Vec<Import>,
}

/// An item that a module defines.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// The keyword that begins the item.
    pub(crate) word: String,
    pub(crate) line: usize,
    /// Declared with an unrestricted `pub`.
    pub(crate) is_public: bool,
}

/// One name, or one `*`, of a `use` declaration.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name that the import binds; `None` for `*`.
    pub(crate) name: Option<String>,
    /// The token that ends the import's path.
    pub(crate) at: usize,
    /// Declared with `pub` of any width.
    pub(crate) is_reexport: bool,
}

impl Modules {
    /// Builds the tree of the files under a `src` directory that are compiled outside of tests.
    pub(crate) fn new(files: &[SourceFile]) -> Self {
        let mut tree = Self::default();
        for (index, file) in files.iter().enumerate().filter(|(_, file)| !file.is_test) {
            let Some(key) = key(&file.path) else { continue };
            let tokens = &file.tokens;
            tree.modules.insert(key.clone(), Module { file: index, ..Module::default() });
            tree.add_items(&key, index, tokens, 0, tokens.len());
            for (within, import) in imports(tokens) {
                let module = within.iter().fold(key.clone(), |key, name| format!("{key}/{name}"));
                if let Some(module) = tree.modules.get_mut(&module) {
                    module.imports.push(import);
                }
            }
        }
        tree
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Module> {
        self.modules.get(key)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Module)> {
        self.modules.iter().map(|(key, module)| (key.as_str(), module))
    }

    /// Adds the items directly in a module, and the inline modules in it.
    fn add_items(&mut self, key: &str, file: usize, tokens: &[Token], start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let token = &tokens[at];
            if token.in_test {
                at += 1;
            } else if token.is("mod") && reads(tokens, at + 2, &["{"]) {
                let inner = format!("{key}/{}", tokens[at + 1].text);
                let close = closing(tokens, at + 2);
                self.modules.insert(inner.clone(), Module { file, ..Module::default() });
                self.add_items(&inner, file, tokens, at + 3, close);
                at = close + 1;
            } else if reads(tokens, at, &["macro_rules", "!"]) {
                self.add_item(key, tokens, at, at + 2);
                at = closing(tokens, at + 3) + 1;
            } else if token.kind == Kind::Ident && reads(tokens, at + 1, &["!", "{"]) {
                // Items inside a macro invocation keep their names.
                self.add_items(key, file, tokens, at + 3, closing(tokens, at + 2));
                at = closing(tokens, at + 2) + 1;
            } else if nesting(token) > 0 {
                at = closing(tokens, at) + 1;
            } else {
                let is_item = ITEMS.iter().any(|word| token.is(word));
                if is_item && tokens.get(at + 1).is_some_and(is_name) {
                    self.add_item(key, tokens, at, at + 1);
                }
                at += 1;
            }
        }
    }

    fn add_item(&mut self, key: &str, tokens: &[Token], at: usize, name: usize) {
        let (Some(module), Some(name)) = (self.modules.get_mut(key), tokens.get(name)) else {
            return;
        };
        let before =
            tokens[..at].iter().rposition(|token| !token.is("unsafe") && !token.is("const"));
        module.items.push(Item {
            name: name.text.clone(),
            word: tokens[at].text.clone(),
            line: name.line,
            is_public: before.is_some_and(|before| tokens[before].is("pub")),
        });
    }
}

/// The keywords whose next word is a name that other modules can import.
const ITEMS: &[&str] = &["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

/// Returns whether the token is a name rather than another keyword, as in `const unsafe fn`.
fn is_name(token: &Token) -> bool {
    let more = ["async", "extern", "fn", "mut", "unsafe"];
    token.kind == Kind::Ident && !more.iter().any(|word| token.is(word))
}

/// Returns the key of the module that a file holds, if the file belongs to a library.
pub(crate) fn key(path: &str) -> Option<String> {
    let (package, inner) = path.split_once("/src/")?;
    let inner = inner.strip_suffix(".rs")?;
    Some(match inner {
        "lib" => format!("{package}/src"),
        _ => format!("{package}/src/{}", inner.strip_suffix("/mod").unwrap_or(inner)),
    })
}

/// Returns every import of a file outside of tests, with the inline modules around it.
pub(crate) fn imports(tokens: &[Token]) -> Vec<(Vec<String>, Import)> {
    let mut found = Vec::new();
    let mut inline: Vec<(usize, String)> = Vec::new();
    for at in 0..tokens.len() {
        inline.retain(|(end, _)| *end > at);
        if tokens[at].is("mod") && reads(tokens, at + 2, &["{"]) {
            inline.push((closing(tokens, at + 2), tokens[at + 1].text.clone()));
        }
        if !is_use(tokens, at) || tokens[at].in_test {
            continue;
        }
        let within: Vec<String> = inline.iter().map(|(_, name)| name.clone()).collect();
        let is_reexport = follows_pub(tokens, at);
        let mut leaves = Vec::new();
        add_leaves(tokens, at + 1, &[], is_reexport, &mut leaves);
        found.extend(leaves.into_iter().map(|leaf| (within.clone(), leaf)));
    }
    found
}

/// Returns whether a `use` declaration starts at `at`, as opposed to `use<…>` in a type.
pub(crate) fn is_use(tokens: &[Token], at: usize) -> bool {
    tokens[at].is("use") && !reads(tokens, at + 1, &["<"])
}

fn follows_pub(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    if !tokens[before].is(")") {
        return tokens[before].is("pub");
    }
    let open = tokens[..before].iter().rposition(|token| token.is("("));
    open.is_some_and(|open| open > 0 && tokens[open - 1].is("pub"))
}

/// Adds the names of the use tree at `at`, and returns where the tree ends.
fn add_leaves(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    is_reexport: bool,
    leaves: &mut Vec<Import>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        if token.is("{") {
            let end = closing(tokens, at);
            at += 1;
            while at < end {
                at = add_leaves(tokens, at, &path, is_reexport, leaves) + 1;
            }
            return end + 1;
        }
        if token.is("*") {
            leaves.push(Import { path, name: None, at, is_reexport });
            return at + 1;
        }
        if token.kind != Kind::Ident {
            if !token.is("$") && !token.is("::") {
                return at;
            }
            at += 1;
            continue;
        }
        let is_group_itself = token.is("self") && !prefix.is_empty();
        if !is_group_itself {
            path.push(token.text.clone());
        }
        if !reads(tokens, at + 1, &["::"]) {
            let renamed = reads(tokens, at + 1, &["as"]);
            let name =
                if renamed { tokens.get(at + 2).map(|token| token.text.clone()) } else { None };
            let name = name.or_else(|| path.last().cloned());
            leaves.push(Import { path, name, at, is_reexport });
            return if renamed { at + 3 } else { at + 1 };
        }
        at += 2;
    }
    at
}

/// Returns the tokens of free names in a file: no fields, methods, later path segments, or `use`
/// declarations.
pub(crate) fn free_names(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let declared = use_tokens(tokens);
    (0..tokens.len()).filter(move |at| {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_part = before.is_some_and(|before| before.is(".") || before.is("::"));
        let token = &tokens[*at];
        token.kind == Kind::Ident && !token.in_test && !is_part && !declared.contains(at)
    })
}

/// Returns the tokens of `use` declarations and of `pub(in …)`.
fn use_tokens(tokens: &[Token]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for at in 0..tokens.len() {
        if is_use(tokens, at) {
            let length = tokens[at..].iter().position(|token| token.is(";")).unwrap_or(0);
            found.extend(at..at + length);
        } else if reads(tokens, at, &["pub", "("]) {
            found.extend(at + 1..closing(tokens, at + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Modules, free_names, imports, key};
    use crate::sources::planted;

    #[test]
    fn a_file_is_a_module() {
        for (path, module) in [
            ("mcp-proto/src/lib.rs", Some("mcp-proto/src")),
            ("mcp-proto/src/json/mod.rs", Some("mcp-proto/src/json")),
            ("mcp-proto/src/json/raw.rs", Some("mcp-proto/src/json/raw")),
            ("adapters/tokio/src/lib.rs", Some("adapters/tokio/src")),
            ("adapters/smol/tests/pair.rs", None),
        ] {
            assert_eq!(key(path).as_deref(), module);
        }
    }

    #[test]
    fn items_are_found_in_their_module_and_not_in_bodies() {
        let text = "pub struct A; pub(crate) enum B { C } const fn d() { const E: u8 = 1; } \
                    impl A { fn f() {} } object! { pub struct G { required h: H } } \
                    macro_rules! i { ($j:ident) => { struct $j; struct K; } }\
            pub mod l { pub unsafe trait M {} #[cfg(test)] struct N; }";
        let files = planted(&[("a/src/lib.rs", text)]);
        let modules = Modules::new(&files);
        let names = |key: &str, public: bool| {
            let items =
                modules.get(key).unwrap().items.iter().filter(|item| !public || item.is_public);
            items.map(|item| item.name.clone()).collect::<Vec<String>>()
        };
        assert_eq!(names("a/src", false), ["A", "B", "d", "G", "i"]);
        assert_eq!(names("a/src", true), ["A", "G"]);
        assert_eq!(names("a/src/l", true), ["M"]);
        assert_eq!(modules.all().count(), 2);
    }

    #[test]
    fn use_trees_are_taken_apart() {
        let text = "use a::{b::{self, c as d}, e::*}; pub(in crate::x) use f; \
                    mod m { use $crate::g::h; } \
                    fn i() -> impl J + use<'_> { use k::L as _; } #[cfg(test)] use n;";
        let files = planted(&[("a/src/lib.rs", text)]);
        let found: Vec<String> = imports(&files[0].tokens)
            .into_iter()
            .map(|(within, import)| {
                let name = import.name.as_deref().unwrap_or("*");
                let public = if import.is_reexport { "pub " } else { "" };
                format!("{}{public}{} as {name}", within.concat(), import.path.join("::"))
            })
            .collect();
        assert_eq!(
            found,
            [
                "a::b as b",
                "a::b::c as d",
                "a::e as *",
                "pub f as f",
                "mcrate::g::h as h",
                "k::L as _"
            ]
        );
    }

    #[test]
    fn free_names_leave_fields_and_imports_out() {
        let files = planted(&[("a/src/lib.rs", "use x::y; pub(in z) fn f() { a.b; c::d::e(g) }")]);
        let tokens = &files[0].tokens;
        let names: Vec<&str> = free_names(tokens).map(|at| tokens[at].text.as_str()).collect();
        assert_eq!(names, ["pub", "fn", "f", "a", "c", "g"]);
    }
}

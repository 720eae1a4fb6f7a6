//! Splits Rust source text into tokens that carry their line numbers.
//!
//! Rules work on tokens so that a word in a comment or a string is never mistaken for code. The
//! lexer follows Rust's lexical rules for valid source; its output for invalid source is
//! unspecified.

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// An identifier or a keyword, raw identifiers without their `r#`.
    Ident,
    /// A lifetime or a label.
    Lifetime,
    /// A number or a character.
    Literal,
    /// A string of any kind; its text is the part between the quotes.
    Text,
    /// An operator or a bracket; `::`, `=>`, comparisons and ranges are one token each.
    Punct,
}

/// One token of a source file.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The line it starts on, counted from 1.
    pub(crate) line: usize,
    /// The line it ends on: later than `line` only for strings of several lines.
    pub(crate) last_line: usize,
    /// Whether it is a raw string.
    pub(crate) is_raw: bool,
}

impl Token {
    /// Returns whether this is the given word or operator; strings never match.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Ident | Kind::Punct) && self.text == text
    }
}

/// Returns the tokens of a text, without comments and white space.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens
}

/// Operators of more than one character that some rule looks for, longest first.
const OPERATORS: &[&str] = &["..=", "...", "::", "=>", "->", "==", "!=", "<=", ">=", ".."];

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        self.skip_blanks();
        let line = self.line;
        let first = self.rest.chars().next()?;
        let mut is_raw = false;
        let (kind, text) = if let Some(hashes_at) = self.string_prefix() {
            is_raw = self.rest[..hashes_at].ends_with('r');
            (Kind::Text, self.string(hashes_at))
        } else if first == '\'' || self.rest.starts_with("b'") {
            self.quote()
        } else if first == '_' || first.is_alphabetic() {
            if self.rest.starts_with("r#") {
                self.take(2);
            }
            (Kind::Ident, self.take_while(|c| c == '_' || c.is_alphanumeric()))
        } else if first.is_ascii_digit() {
            (Kind::Literal, self.number())
        } else {
            let operator = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator));
            (
                Kind::Punct,
                self.take(operator.map_or_else(|| first.len_utf8(), |operator| operator.len())),
            )
        };
        Some(Token { kind, text, line, last_line: self.line, is_raw })
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                self.block_comment();
            } else {
                return;
            }
        }
    }

    /// Skips a block comment, including nested ones.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
                if depth == 0 {
                    return;
                }
            } else {
                self.take_one();
            }
        }
    }

    /// Returns the offset of a string's hashes or opening quote if a string starts here.
    fn string_prefix(&self) -> Option<usize> {
        let letters =
            ["br", "cr", "b", "c", "r", ""].into_iter().find(|p| self.rest.starts_with(*p))?;
        let hashes = if letters.ends_with('r') { self.hashes(letters.len()) } else { 0 };
        self.rest[letters.len() + hashes..].starts_with('"').then_some(letters.len())
    }

    fn hashes(&self, at: usize) -> usize {
        self.rest[at..].chars().take_while(|c| *c == '#').count()
    }

    /// Takes a string and returns the text between its quotes.
    fn string(&mut self, hashes_at: usize) -> String {
        let raw = self.rest[..hashes_at].ends_with('r');
        let end = format!("\"{}", "#".repeat(self.hashes(hashes_at)));
        self.take(hashes_at + end.len());
        let mut text = String::new();
        while !self.rest.is_empty() && !self.rest.starts_with(&end) {
            if !raw && self.rest.starts_with('\\') {
                text += &self.take_one();
            }
            text += &self.take_one();
        }
        self.take(end.len());
        text
    }

    /// Takes a character literal or a lifetime; the characters after the quote decide which.
    fn quote(&mut self) -> (Kind, String) {
        let mut text = if self.rest.starts_with('b') { self.take(2) } else { self.take(1) };
        let mut ahead = self.rest.chars();
        let escaped = ahead.next() == Some('\\');
        if !escaped && ahead.next() != Some('\'') {
            text += &self.take_while(|c| c == '_' || c.is_alphanumeric());
            return (Kind::Lifetime, text);
        }
        if escaped {
            text += &self.take_one();
        }
        text += &self.take_one();
        text += &self.take_while(|c| c != '\'');
        text += &self.take(1);
        (Kind::Literal, text)
    }

    /// Takes a number, without the dots of a range or a method call after it.
    fn number(&mut self) -> String {
        let mut text = self.take_while(|c| c == '_' || c.is_alphanumeric());
        let mut ahead = self.rest.chars();
        if ahead.next() == Some('.') && ahead.next().is_some_and(|c| c.is_ascii_digit()) {
            text += &self.take(1);
            text += &self.take_while(|c| c == '_' || c.is_alphanumeric());
        }
        text
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        self.take(self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len()))
    }

    fn take_one(&mut self) -> String {
        self.take(self.rest.chars().next().map_or(0, char::len_utf8))
    }

    fn take(&mut self, bytes: usize) -> String {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(texts("a // std::x\n/* b /* c */ d */ e //! f"), ["a", "e"]);
    }

    #[test]
    fn strings_are_one_token_and_never_code() {
        assert_eq!(kinds(r###"x("a\"b", r"\", r#"c"d"#, b"e", br##"f"#"##, c"g")"###), {
            use Kind::{Ident, Punct, Text};
            [
                Ident, Punct, Text, Punct, Text, Punct, Text, Punct, Text, Punct, Text, Punct,
                Text, Punct,
            ]
        });
        assert!(!tokens("\"std\"")[0].is("std"));
        assert_eq!(texts(r##"r#"a"b"#"##), ["a\"b"]);
    }

    #[test]
    fn characters_and_lifetimes_are_distinguished() {
        use Kind::{Ident, Lifetime, Literal, Punct};
        assert_eq!(kinds(r"'a' '\'' b'\\' '\u{7f}' '/'"), [Literal; 5]);
        assert_eq!(kinds("&'a str"), [Punct, Lifetime, Ident]);
        assert_eq!(kinds("'outer: loop"), [Lifetime, Punct, Ident]);
    }

    #[test]
    fn numbers_do_not_swallow_ranges() {
        assert_eq!(
            texts("0..9 1.5e3 0x_ff ..=7 1.max(2)"),
            ["0", "..", "9", "1.5e3", "0x_ff", "..=", "7", "1", ".", "max", "(", "2", ")"]
        );
    }

    #[test]
    fn a_raw_identifier_equals_its_plain_form() {
        assert!(tokens("r#type")[0].is("type"));
        assert_eq!(texts("rest bytes crate r b"), ["rest", "bytes", "crate", "r", "b"]);
    }

    #[test]
    fn operators_are_single_tokens() {
        assert_eq!(
            texts("a::b=>c>=d<e=f"),
            ["a", "::", "b", "=>", "c", ">=", "d", "<", "e", "=", "f"]
        );
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let lines: Vec<usize> =
            tokens("a\n\"x\ny\"\n/* \n */ b").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 5]);
    }
}

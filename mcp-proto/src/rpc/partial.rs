//! Identifies a message that cannot be parsed or was too long to be kept, so that its sender gets a
//! response or its call ends.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use super::id::RequestId;
use crate::json::{Cursor, unescape};
use crate::printable::printable;

/// The part of an envelope that can be recognized in a message that cannot be read.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct PartialEnvelope {
    /// The id, unless it is invalid, repeated or not at the top level.
    pub(crate) id: Option<RequestId>,
    pub(crate) kind: PartialKind,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum PartialKind {
    /// The message has `method` or `params`.
    Request,
    /// The message has `result` or `error`.
    Response,
    #[default]
    Unknown,
}

impl PartialEnvelope {
    /// Reads the members at the top level of `text`, which may be neither JSON nor UTF-8.
    ///
    /// Values are skipped by their quotes and brackets, at any depth. Reading stops where these do
    /// not match, so that no member of an inner object is taken for one at the top level.
    pub(crate) fn of(text: &[u8], id_bytes_max: usize) -> Self {
        let mut envelope = Self::default();
        let mut scan = Scan { text: text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text), at: 0 };
        let mut ids = 0;
        let mut more = scan.accept(b'{');
        while more {
            let key = scan.string().and_then(unescape).filter(|_| scan.accept(b':'));
            let Some(key) = key else { break };
            envelope.kind = match &*key {
                "method" | "params" => PartialKind::Request,
                "result" | "error" if envelope.kind == PartialKind::Unknown => {
                    PartialKind::Response
                }
                _ => envelope.kind,
            };
            let Some(value) = scan.value() else { break };
            if key == "id" {
                ids += 1;
                envelope.id = id(value, id_bytes_max);
            }
            more = scan.accept(b',');
        }
        envelope.id = envelope.id.filter(|_| ids == 1);
        envelope
    }

    /// Reads the envelope of a message of which only the `first` and the `last` bytes were kept.
    // T-21: servers write the id first or last, because the result is in between.
    pub(crate) fn of_ends(first: &[u8], last: &[u8], id_bytes_max: usize) -> Self {
        let mut envelope = Self::of(first, id_bytes_max);
        if envelope.id.is_none() && first.trim_ascii_start().starts_with(b"{") {
            envelope.id = last_id(last).and_then(|value| id(value, id_bytes_max));
        }
        envelope
    }
}

/// Reads the envelopes of up to `members_max` members of a batch that cannot be read.
pub(crate) fn partial_batch(
    text: &[u8],
    members_max: usize,
    id_bytes_max: usize,
) -> Vec<PartialEnvelope> {
    let (mut members, mut scan) = (Vec::new(), Scan { text, at: 0 });
    let mut more = scan.accept(b'[');
    while more && members.len() < members_max {
        let rest = text.get(scan.at..).unwrap_or_default();
        let member = scan.value();
        more = member.is_some() && scan.accept(b',');
        // Of a member whose end is not found, the beginning can be read.
        let text = member.unwrap_or_else(|| rest.trim_ascii_start());
        members.push(PartialEnvelope::of(text, id_bytes_max));
    }
    members
}

/// A line that is not a complete message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BrokenLine<'a> {
    /// A line has exceeded the limit; the rest of it is discarded.
    TooLong,
    /// The first and the last bytes of the line that exceeded the limit, at its end.
    Discarded { first: &'a [u8], last: &'a [u8] },
    /// A line that the end of the stream cut off.
    Truncated(&'a [u8]),
}

/// The length of the beginning of a text in which a message mentions JSON-RPC, in bytes.
const BEGINNING_BYTES_MAX: usize = 256;

/// The maximum length of a quoted text, in characters.
const QUOTE_CHARS_MAX: usize = 120;

/// Adds the beginning of a text that is not meant as a message, such as a log line or an error of
/// the program. Messages are not quoted, because their payload may be secret.
pub(crate) fn with_foreign_text(detail: Cow<'static, str>, text: &[u8]) -> Cow<'static, str> {
    let beginning = text.get(..BEGINNING_BYTES_MAX).unwrap_or(text);
    if beginning.windows(7).any(|word| word == b"jsonrpc") {
        return detail;
    }
    let quote = printable(text, QUOTE_CHARS_MAX);
    format!("{detail}; the text begins with {quote:?}").into()
}

/// Returns the id that `value` is, if it is valid JSON.
fn id(value: &[u8], id_bytes_max: usize) -> Option<RequestId> {
    let mut cursor = Cursor::over(value, 0);
    let is_valid = value.len() <= id_bytes_max && cursor.value().is_ok() && cursor.finish().is_ok();
    if is_valid { RequestId::from_json(value) } else { None }
}

/// Returns the value of `id` if that is the last member of the object that ends with `text`.
// A number, or a string without escapes, before the last brace is the value of a member of the
// outermost object.
fn last_id(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let len = match text.strip_suffix(b"\"") {
        Some(inner) => 2 + inner.iter().rev().position(|byte| matches!(byte, b'"' | b'\\'))?,
        None => text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count(),
    };
    let (before, value) = text.split_at_checked(text.len() - len)?;
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
    let before = before.strip_suffix(b"\"id\"")?.trim_ascii_end();
    (before.ends_with(b",") || before.ends_with(b"{")).then_some(value)
}

/// A position in text that may be invalid.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Skips a string with any bytes. Returns `None` if there is none or it has no end.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.peek().filter(|first| *first == b'"')?;
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..)?;
            let special = memchr::memchr2(b'"', b'\\', rest)?;
            self.at += special + if rest.get(special) == Some(&b'"') { 1 } else { 2 };
            if rest.get(special) == Some(&b'"') {
                return self.text.get(start..self.at);
            }
        }
    }

    /// Skips a value. Returns `None` if there is none, it has no end or its brackets do not match.
    fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => return self.string(),
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                // A scalar at the end of the text may be incomplete.
                self.at += self.text.get(start..)?.iter().position(ends)?;
            }
        }
        self.text.get(start..self.at)
    }

    fn skip_nested(&mut self) -> Option<()> {
        // One bit per level, set for an object. Deeper brackets are only counted.
        let (mut objects, mut depth) = (0_u128, 0_usize);
        loop {
            let byte = *self.text.get(self.at)?;
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => {
                    if depth < 128 {
                        objects = objects << 1 | u128::from(byte == b'{');
                    }
                    depth += 1;
                }
                b'}' | b']' => {
                    depth -= 1;
                    if depth < 128 {
                        if (objects & 1 == 1) != (byte == b'}') {
                            return None;
                        }
                        objects >>= 1;
                    }
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PartialKind::{Request, Response, Unknown};
    use super::*;

    fn expected(id: &str) -> Option<RequestId> {
        RequestId::from_json(id.as_bytes())
    }

    // T-12, JSON-13
    #[test]
    fn the_id_of_an_unreadable_message_is_read_before_and_after_the_error() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let rows = [
            // After the error.
            (r#"{"method":"a","params":NaN,"id":7}"#, "7", Request),
            (r#"{"params":{"a":-},"id":"x"}"#, "\"x\"", Request),
            ("{\n\"params\":NaN,\n\"id\": 7\n}", "7", Request),
            ("{\"result\":{\"a\":\"\u{1}\"},\"id\":7}", "7", Response),
            (r#"{"error":{"message":"\x41\u12"},"id":7 }"#, "7", Response),
            ("{\"x\":'a',\"id\":7}", "7", Unknown),
            (&format!(r#"{{"params":{deep},"id":7}}"#), "7", Request),
            // Before it.
            (r#"{"id":7,"method":"a","params":{"a":[}"#, "7", Request),
            (r#"{"id":7,"result":{"a"#, "7", Response),
            (r#"{"\u0069d":"\ud83d","resu"#, r#""\ud83d""#, Unknown),
            (r#"{"id":7,"method":"a",}"#, "7", Request),
            (r#"{"id":7,"method":"a"}{"id":8}"#, "7", Request),
            ("\u{feff}{\"id\":7,\"method\":\"a\"}", "7", Request),
            // Not at the top level, repeated, incomplete or invalid.
            (r#"{"result":{"a":],"id":3},"id":9}"#, "", Response),
            (r#"{"params":{"id":3},"x":NaN}"#, "", Request),
            (r#"{"params":"\",\"id\":3,","x":NaN}"#, "", Request),
            (r#"[{"id":3,"x":NaN}]"#, "", Unknown),
            (r#"{"id":7,"id":8,"method":NaN}"#, "", Request),
            (r#"{"id":7,"id":NaN,"method":"a"}"#, "", Request),
            (r#"{"id":NaN,"id":7,"method":"a"}"#, "", Request),
            (r#"{"method":"a","id":12"#, "", Request),
            (r#"{"method":"a","id":12x}"#, "", Request),
            ("{\"method\":\"a\",\"id\":\"\u{1}\\n\"}", "", Request),
            ("{id:7}", "", Unknown),
            ("", "", Unknown),
        ];
        for (text, id, kind) in rows {
            let envelope = PartialEnvelope { id: expected(id), kind };
            assert_eq!(PartialEnvelope::of(text.as_bytes(), 64), envelope, "{text:.60}");
        }
        let invalid = b"{\"method\":\"\xFF\",\"id\":7,\"\xFE\":\"\xC0\"}";
        assert_eq!(PartialEnvelope::of(invalid, 64).id, expected("7"));
        assert_eq!(PartialEnvelope::of(br#"{"id":"abc","x":NaN}"#, 4).id, None);
    }

    // BAT-03
    #[test]
    fn the_members_of_an_unreadable_batch_are_identified() {
        let text =
            br#" [{"id":1,"method":"a","params":NaN}, {"id":"b","result":{}} ,7,{"id":2,"method":"#;
        let members = partial_batch(text, 9, 64);
        let ids: Vec<_> = members.iter().map(|member| (member.id.clone(), member.kind)).collect();
        let last = (expected("2"), Request);
        assert_eq!(
            ids,
            [(expected("1"), Request), (expected("\"b\""), Response), (None, Unknown), last]
        );
        assert_eq!(partial_batch(text, 2, 64).len(), 2);
        assert!(partial_batch(b"[", 2, 64).iter().all(|member| member.id.is_none()));
    }

    #[test]
    fn the_id_of_an_oversized_message_is_read_from_either_end_t_21() {
        let rows: &[(&str, &str, &str)] = &[
            (r#"{"jsonrpc":"2.0","id":7,"result":{"a":"#, "xx\"}}", "7"),
            (r#" { "id" : 7 , "error" : {"a":""#, "", "7"),
            (r#"{"error":7,"id":1"#, "", ""),
            (r#"{"\u0069d":7,"result":{"a":""#, "", "7"),
            (r#"{"result":{"a":""#, r#"x"},"jsonrpc":"2.0","id":12}"#, "12"),
            (r#"{"result":{"a":""#, "x\"} , \"id\" : 12 } \r", "12"),
            (r#"{"result":{"a":""#, r#"x"},"id":"12"}"#, "\"12\""),
            // The end of a text, of another member and of another object.
            (r#"{"result":{"a":""#, r#"x\",\"id\":12"}}"#, ""),
            (r#"{"result":{"a":""#, r#"x"},"x\",\"id":12}"#, ""),
            (r#"{"result":{"a":""#, r#"x","id":12}}"#, ""),
            (r#"{"result":{"a":""#, r#"x"},"grid":12}"#, ""),
            (r#"{"result":{"a":""#, r#"x"},"id":"a\"12"}"#, ""),
            (r#"{"result":{"a":""#, r#"x"},"id":99999999999999999999}"#, ""),
            // Requests.
            (r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"#, "}}", "7"),
            (r#"{"params":{"result":""#, r#"x"},"method":"a","id":12}"#, "12"),
            (r#"{"_meta":{"a":""#, r#"x"}},"result":{},"id":12}"#, "12"),
            ("[", r#"{"result":{},"id":12}"#, ""),
            ("", "", ""),
        ];
        for (first, last, id) in rows {
            let found = PartialEnvelope::of_ends(first.as_bytes(), last.as_bytes(), 64);
            assert_eq!(found.id, expected(id), "{first} ... {last}");
        }
    }
}

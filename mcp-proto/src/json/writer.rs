//! Writers of JSON text.

use alloc::vec::Vec;

use super::swar::plain_len;

/// Writes `text` as a JSON string, on one line.
pub(crate) fn write_str(out: &mut Vec<u8>, text: &str) {
    write_text(out, text.as_bytes());
}

/// Like [`write_str`], for bytes known to be UTF-8.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    if text.len() >= LONG {
        make_room(out, text.len());
    }
    out.push(b'"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at_checked(plain_len(rest)).unwrap_or_default();
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = special.split_first() else { break };
        rest = behind;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(hex(byte >> 4));
                out.push(hex(byte & 15));
            }
        }
    }
    out.push(b'"');
}

/// Reserves room for a long text, growing the capacity by at most a quarter or to the size needed.
/// `Vec::reserve` would double the capacity.
fn make_room(out: &mut Vec<u8>, bytes: usize) {
    // Leave room for the rest of the message.
    let needed = out.len().saturating_add(bytes).saturating_add(LONG);
    if needed > out.capacity() {
        let room = needed.max(out.capacity() / 4 * 5);
        out.reserve_exact(room - out.len());
    }
}

/// Longer texts reserve room before they are written.
const LONG: usize = 1024;

fn hex(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}

/// Writes an unsigned integer in decimal.
pub(crate) fn write_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes an integer in decimal.
pub(crate) fn write_i64(out: &mut Vec<u8>, number: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes a number. Integers below 2^53 have no fraction; infinities and NaN become `null`.
pub(crate) fn write_f64(out: &mut Vec<u8>, number: f64) {
    let integer = number as i64;
    if integer as f64 == number && integer.unsigned_abs() < 1 << 53 {
        write_i64(out, integer);
    } else if number.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Writes an object: call `begin`, write a value after each `key`, call `end`.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Writes a key. The caller must write exactly one value to the returned buffer.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_str(self.out, key);
        self.out.push(b':');
        self.out
    }

    /// Like [`key`](Self::key), for a key that needs no escapes.
    pub(crate) fn plain_key(&mut self, key: &'static str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(crate) fn str(&mut self, key: &str, value: &str) {
        write_str(self.key(key), value);
    }

    /// Writes a member unless `value` is `None`.
    pub(crate) fn opt_str(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.str(key, value);
        }
    }

    pub(crate) fn i64(&mut self, key: &str, value: i64) {
        write_i64(self.key(key), value);
    }

    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.key(key).extend_from_slice(text);
    }

    pub(crate) fn raw(&mut self, key: &str, value: &[u8]) {
        self.key(key).extend_from_slice(value);
    }

    /// Writes encoded members, without braces; `members` may be empty.
    pub(crate) fn encoded(&mut self, members: &[u8]) {
        if !self.empty && !members.is_empty() {
            self.out.push(b',');
        }
        self.empty &= members.is_empty();
        self.out.extend_from_slice(members);
    }

    /// Like [`key`](Self::key), for a key that is already escaped, without quotes.
    pub(crate) fn escaped_key(&mut self, key: &[u8]) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(key);
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }
}

/// Writes an array: call `begin`, write a value after each `next`, call `end`.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Array<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, empty: true }
    }

    /// Starts an element. The caller must write exactly one value to the returned buffer.
    pub(crate) fn next(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }

    pub(crate) fn end(self) {
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests;

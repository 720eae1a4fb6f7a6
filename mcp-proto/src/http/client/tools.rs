//! The tools that a server has listed: which of them cannot be called over HTTP, and what of the
//! others' arguments is repeated in header fields; knows nothing of exchanges.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::http::Mirror;
use crate::json::{Array, Frame, Object, Raw, elements, find, members, unescape, unescape_key};

/// The annotations of the tools that were listed last.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: BTreeMap<Box<str>, Known>,
    /// The names in the order in which they came.
    by_age: BTreeMap<u64, Box<str>>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    mirror: Mirror,
    bytes: usize,
    serial: u64,
}

/// What is remembered, in tools and in bytes of their schemas; with more, those that came first are
/// forgotten.
const TOOLS_MAX: usize = 4096;
const BYTES_MAX: usize = 4 << 20;

/// Names of refused tools that are repeated from a server, and of each this much.
const NAMED_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 64;

/// Tools that were dropped from a list: how many, and some by name.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Dropped {
    pub(super) count: usize,
    pub(super) names: Vec<String>,
}

impl Tools {
    /// What is repeated of a tool's arguments, if anything.
    pub(super) fn mirror(&self, name: &str) -> Option<&Mirror> {
        self.known.get(name).map(|known| &known.mirror)
    }

    /// Remembers the tools of a result of `tools/list`. If some cannot be called, the result
    /// without them. (HTTP-48)
    pub(super) fn learn(&mut self, result: &[u8]) -> Option<(Vec<u8>, Dropped)> {
        let list = find(result, "tools")?;
        let (mut dropped, mut kept) = (Dropped::default(), Vec::new());
        for tool in elements(list) {
            let name = find(tool, "name").and_then(unescape).unwrap_or_default();
            if self.learn_one(&name, find(tool, "inputSchema")) {
                kept.push(tool);
            } else {
                dropped.count += 1;
                if dropped.names.len() < NAMED_MAX {
                    dropped.names.push(name.chars().take(NAME_CHARS_MAX).collect());
                }
            }
        }
        if dropped.count == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(result.len());
        let mut object = Object::begin(&mut out);
        for (key, value) in members(result) {
            let key = unescape_key(key);
            if key != "tools" {
                object.raw(&key, value);
            }
        }
        let mut array = Array::begin(object.key("tools"));
        kept.into_iter().for_each(|tool| array.next().extend_from_slice(tool));
        array.end();
        object.end();
        Some((out, dropped))
    }

    /// Remembers one tool; false if its annotations are not what they must be.
    fn learn_one(&mut self, name: &str, schema: Option<&[u8]>) -> bool {
        self.forget(name);
        // Most schemas have none, and need no copy.
        let has_any = |schema: &&[u8]| {
            memchr::memmem::find(schema, b"x-mcp-header").is_some()
                || memchr::memchr(b'\\', schema).is_some()
        };
        let Some(schema) = schema.filter(has_any) else { return true };
        let raw: Raw = Frame::Borrowed(schema).keep(schema, true);
        let Ok(mirror) = Mirror::of(&raw) else { return false };
        if mirror.is_empty() {
            return true;
        }
        let bytes = name.len() + schema.len();
        if bytes > BYTES_MAX {
            return false;
        }
        self.bytes += bytes;
        self.next += 1;
        self.known.insert(name.into(), Known { mirror, bytes, serial: self.next });
        self.by_age.insert(self.next, name.into());
        while self.known.len() > TOOLS_MAX || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.forget(&oldest);
        }
        true
    }

    fn forget(&mut self, name: &str) {
        if let Some(known) = self.known.remove(name) {
            self.bytes -= known.bytes;
            self.by_age.remove(&known.serial);
        }
    }
}

//! The listed tools of a server: drops those that cannot be called over HTTP and remembers which
//! arguments of the others are mirrored into headers.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::http::ParamHeaders;
use crate::json::{Array, Frame, Object, Raw, elements, find, members, unescape, unescape_key};

/// A cache of the arguments that listed tools mirror into headers.
#[derive(Debug, Default)]
pub(super) struct ToolCache {
    tools: BTreeMap<Box<str>, CachedTool>,
    /// The names in the order of insertion.
    by_age: BTreeMap<u64, Box<str>>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct CachedTool {
    mirror: ParamHeaders,
    bytes: usize,
    serial: u64,
}

/// The maximum number of cached tools; the oldest are evicted first.
const TOOLS_MAX: usize = 4096;

/// The maximum size of the names and schemas of cached tools in bytes.
const BYTES_MAX: usize = 4 << 20;

/// The maximum number of dropped tools that are reported by name.
const NAMED_MAX: usize = 8;

/// The maximum length of a reported tool name in characters.
const NAME_CHARS_MAX: usize = 64;

/// The tools dropped from a list: their number, and the names of the first.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct DroppedTools {
    pub(super) count: usize,
    pub(super) names: Vec<String>,
}

impl ToolCache {
    /// Returns the mirrored arguments of a tool, if any.
    pub(super) fn mirror(&self, name: &str) -> Option<&ParamHeaders> {
        self.tools.get(name).map(|tool| &tool.mirror)
    }

    /// Caches the tools of a `tools/list` result. If some cannot be called, returns the result
    /// without them, and what was dropped.
    // HTTP-48: tools with invalid annotations are excluded.
    pub(super) fn learn(&mut self, result: &[u8]) -> Option<(Vec<u8>, DroppedTools)> {
        let list = find(result, "tools")?;
        let (mut dropped, mut kept) = (DroppedTools::default(), Vec::new());
        for tool in elements(list) {
            let name = find(tool, "name").and_then(unescape).unwrap_or_default();
            if self.learn_tool(&name, find(tool, "inputSchema")) {
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

    /// Caches one tool. Returns false if its annotations are invalid or exceed the limit.
    fn learn_tool(&mut self, name: &str, schema: Option<&[u8]>) -> bool {
        self.remove(name);
        // Most schemas have no annotation and need not be copied. A backslash may hide an escaped
        // spelling.
        let may_have_annotation = |schema: &&[u8]| {
            memchr::memmem::find(schema, b"x-mcp-header").is_some()
                || memchr::memchr(b'\\', schema).is_some()
        };
        let Some(schema) = schema.filter(may_have_annotation) else { return true };
        let raw: Raw = Frame::Borrowed(schema).keep(schema, true);
        let Ok(mirror) = ParamHeaders::from_schema(&raw) else { return false };
        if mirror.is_empty() {
            return true;
        }
        let bytes = name.len() + schema.len();
        if bytes > BYTES_MAX {
            return false;
        }
        self.bytes += bytes;
        self.next += 1;
        self.tools.insert(name.into(), CachedTool { mirror, bytes, serial: self.next });
        self.by_age.insert(self.next, name.into());
        while self.tools.len() > TOOLS_MAX || self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            self.remove(&oldest);
        }
        true
    }

    fn remove(&mut self, name: &str) {
        if let Some(tool) = self.tools.remove(name) {
            self.bytes -= tool.bytes;
            self.by_age.remove(&tool.serial);
        }
    }
}

//! JSON Schemas of tools, compiled once and evaluated within bounds.
//!
//! Nothing is ever fetched, and patterns match in linear time. The cost of a peer's schema is
//! estimated before it is compiled, by following its references: a schema that would take too many
//! steps for each value, or is recursive, is refused, and so is a value that such a schema would
//! take too long to check. Local schemas are not restricted.

mod cost;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use mcp_proto::Raw;
use serde_json::Value;

use cost::{NAME_CHARS_MAX, SchemaCost, ValueSize, shortened};

/// The maximum size of a schema in bytes.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// The maximum number of members and elements of a value; each takes about 64 bytes when parsed.
const VALUE_NODES_MAX: u64 = 500_000;

/// The maximum number of steps to find out where a value differs from its schema. A longer check
/// only says that it does, because the differences of alternatives take memory.
const DESCRIPTION_STEPS_MAX: u64 = 1_000_000;

/// The maximum size in bytes of all compiled patterns of a peer's schema, and of their caches.
const PATTERNS_BYTES_MAX: usize = 8 << 20;

/// The maximum size in bytes of one compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The maximum number of cached schemas, and of the bytes of their texts. The cache is cleared when
/// either is reached.
const CACHED_MAX: usize = 1024;
const CACHED_BYTES_MAX: usize = 4 << 20;

/// The maximum length of an error description.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// A cache of compiled schemas, keyed by their text.
#[derive(Debug)]
pub(crate) struct Schemas {
    author: Author,
    cache: Mutex<SchemaCache>,
}

/// Where the schemas come from, and thus whether they are trusted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Author {
    Local,
    Peer,
}

#[derive(Debug, Default)]
struct SchemaCache {
    compiled: HashMap<Box<str>, Result<Arc<CompiledSchema>, String>>,
    bytes: usize,
}

#[derive(Debug)]
struct CompiledSchema {
    validator: Validator,
    cost: SchemaCost,
}

impl Schemas {
    pub(crate) fn new(author: Author) -> Self {
        Self { author, cache: Mutex::default() }
    }

    /// Checks a value against a schema.
    ///
    /// # Errors
    /// A description of the mismatch, or of what is wrong with the schema, that can be shown to a
    /// model. It does not contain the value.
    pub(crate) fn check(&self, schema: &Raw, value: &Raw) -> Result<(), String> {
        let schema = self.compiled(schema)?;
        let size = ValueSize::of(value.as_str());
        if size.nodes > VALUE_NODES_MAX {
            return Err(format!("the value has more than {VALUE_NODES_MAX} members and elements"));
        }
        if self.author == Author::Peer {
            schema.cost.check(size)?;
        }
        let value: Value = value.parse().map_err(|error| format!("invalid JSON: {error}"))?;
        if schema.validator.is_valid(&value) {
            return Ok(());
        }
        if schema.cost.steps(size) > DESCRIPTION_STEPS_MAX {
            return Err("the value does not match the schema".into());
        }
        match schema.validator.validate(&value) {
            Ok(()) => Ok(()),
            Err(error) => {
                let path = error.instance_path().to_string();
                let place = if path.is_empty() { "the value" } else { &path };
                Err(shortened(&format!("{place}: {}", error.masked()), DESCRIPTION_CHARS_MAX))
            }
        }
    }

    /// Compiles a schema, to find out whether it can be used.
    pub(crate) fn compile(&self, schema: &Raw) -> Result<(), String> {
        self.compiled(schema).map(drop)
    }

    fn compiled(&self, schema: &Raw) -> Result<Arc<CompiledSchema>, String> {
        let text = schema.as_str();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = cache.compiled.get(text) {
            return compiled.clone();
        }
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(format!("the schema exceeds {SCHEMA_BYTES_MAX} bytes"));
        }
        let compiled = compile(schema, self.author).map(Arc::new);
        if cache.compiled.len() >= CACHED_MAX || cache.bytes + text.len() > CACHED_BYTES_MAX {
            *cache = SchemaCache::default();
        }
        cache.bytes += text.len();
        cache.compiled.insert(text.into(), compiled.clone());
        compiled
    }
}

fn compile(schema: &Raw, author: Author) -> Result<CompiledSchema, String> {
    let schema: Value =
        schema.parse().map_err(|error| format!("the schema is not valid JSON: {error}"))?;
    let (cost, pattern_bytes_max) = match author {
        Author::Local => (SchemaCost::of_text(&schema), PATTERN_BYTES_MAX),
        // JSON-28: bounds the cost of a hostile schema.
        Author::Peer => {
            let cost = SchemaCost::expanded(&schema)?;
            let share = PATTERNS_BYTES_MAX / cost.patterns().max(1);
            (cost, share.min(PATTERN_BYTES_MAX))
        }
    };
    let patterns =
        PatternOptions::regex().size_limit(pattern_bytes_max).dfa_size_limit(pattern_bytes_max);
    let validator = jsonschema::options()
        // JSON-27: never fetch references.
        .with_retriever(NoRetriever)
        .with_pattern_options(patterns)
        .build(&schema)
        .map_err(|error| format!("the schema cannot be used: {error}"))?;
    Ok(CompiledSchema { validator, cost })
}

/// Refuses to fetch references.
struct NoRetriever;

impl jsonschema::Retrieve for NoRetriever {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!(
            "`{}` is external, and external schemas are not fetched",
            shortened(uri.as_str(), NAME_CHARS_MAX)
        )
        .into())
    }
}

#[cfg(test)]
mod tests;

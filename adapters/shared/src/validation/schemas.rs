//! JSON Schemas of tools, compiled once and evaluated within bounds.
//!
//! Nothing is ever fetched. Patterns match in linear time, except for those with lookarounds or
//! backreferences, which take a bounded number of steps. The cost of a peer's schema is estimated
//! before it is compiled, by following its references: a schema that would take too many steps for
//! each value, or is recursive, is refused, and so is a value that such a schema would take too
//! long to check. Local schemas are not restricted.

mod cost;
mod describe;
mod patterns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use mcp_proto::Raw;
use serde_json::Value;

use super::check_error::CheckError;
use cost::{SchemaCost, ValueSize};
use describe::describe;
use patterns::{BACKTRACKING_WORK_MAX, Compiled, PATTERN_BYTES_MAX, build};

/// The maximum size of a schema in bytes.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// The maximum number of members and elements of a value; each takes about 64 bytes when parsed.
const VALUE_NODES_MAX: u64 = 500_000;

/// The maximum number of steps to find out where a value differs from its schema. A longer check
/// only says that it does, because the differences of alternatives take memory.
const DESCRIPTION_STEPS_MAX: u64 = 1_000_000;

/// The maximum size in bytes of all compiled patterns of a peer's schema, and of their caches.
const PATTERNS_BYTES_MAX: usize = 8 << 20;

/// The maximum number of cached schemas, and of the bytes of their texts. The cache is cleared when
/// either is reached.
const CACHED_MAX: usize = 1024;
const CACHED_BYTES_MAX: usize = 4 << 20;

/// A cache of compiled schemas, keyed by their text.
#[derive(Debug)]
pub(crate) struct Schemas {
    author: Author,
    cache: Mutex<SchemaCache>,
}

/// The source of the schemas, which decides whether they are trusted.
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
    compiled: Compiled,
    cost: SchemaCost,
}

impl Schemas {
    pub(crate) fn new(author: Author) -> Self {
        Self { author, cache: Mutex::default() }
    }

    /// Checks a value against a schema.
    ///
    /// # Errors
    /// The reason why the value does not pass, which can be shown to a model. It does not contain
    /// the value.
    pub(crate) fn check(&self, schema: &Raw, value: &Raw) -> Result<(), CheckError> {
        let text = schema;
        let schema = self.compiled(text).map_err(CheckError::UnusableSchema)?;
        let size = ValueSize::of(value.as_str());
        self.check_size(&schema, size).map_err(CheckError::TooCostly)?;
        let value: Value = value
            .parse()
            .map_err(|error| CheckError::Mismatch(format!("invalid JSON: {error}")))?;
        let Compiled { validator, skipped, .. } = &schema.compiled;
        if validator.is_valid(&value) {
            return match &skipped[..] {
                [] => Ok(()),
                skipped => Err(CheckError::PartlyChecked(skipped.to_vec())),
            };
        }
        if schema.cost.steps(size) > DESCRIPTION_STEPS_MAX {
            return Err(CheckError::Mismatch("the value does not match the schema".into()));
        }
        explain(validator, &value, text)
    }

    fn check_size(&self, schema: &CompiledSchema, size: ValueSize) -> Result<(), String> {
        if size.nodes > VALUE_NODES_MAX {
            return Err(format!("the value has more than {VALUE_NODES_MAX} members and elements"));
        }
        let backtracking_work = size.bytes.saturating_mul(size.longest_text);
        if schema.compiled.backtracks && backtracking_work > BACKTRACKING_WORK_MAX {
            return Err("the value has texts that are too long for patterns with lookarounds or \
                        backreferences (64 KiB, less if there are many)"
                .into());
        }
        schema.cost.check_unique(size)?;
        match self.author {
            Author::Local => Ok(()),
            Author::Peer => schema.cost.check(size),
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
    let compiled = build(&schema, pattern_bytes_max, author == Author::Peer)?;
    Ok(CompiledSchema { compiled, cost })
}

/// Finds out why a value is not valid.
fn explain(validator: &Validator, value: &Value, schema: &Raw) -> Result<(), CheckError> {
    let Err(error) = validator.validate(value) else { return Ok(()) };
    Err(match error.kind() {
        // Whether the pattern matches would decide.
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. } => {
            let pattern = error.schema_path().as_str();
            CheckError::PartlyChecked(vec![pattern.to_owned()])
        }
        _ => CheckError::Mismatch(describe(&error, &schema.parse().unwrap_or_default())),
    })
}

#[cfg(test)]
mod tests;

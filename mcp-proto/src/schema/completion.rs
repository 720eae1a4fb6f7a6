//! Argument completion for prompts and resource templates.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::ResultType;
use super::containers::{List, Map};
use super::content::block_type;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{message, object};
use super::meta::Meta;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw};
use crate::revision::{R3, R5, Revision};

object! {
    /// The params of a `completion/complete` request, which asks for suggested argument values.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion>.
    pub struct Complete {
        /// The prompt or resource template that has the argument.
        required reference: Reference = "ref",
        /// The argument to complete, with its partial value.
        required argument: CompletionArgument = "argument",
        /// Values already chosen for other arguments. (since 2025-06-18)
        optional context: CompletionContext = "context" in R3..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "completion/complete": Complete => CompleteResult);

object! {
    /// The argument to complete, with its partial value.
    pub struct CompletionArgument {
        /// The argument's name.
        required name: String = "name",
        /// The partial value.
        required value: String = "value",
    }
}

object! {
    /// Context for a completion: values of other arguments. (since 2025-06-18)
    pub struct CompletionContext {
        /// Values already chosen for other arguments of the prompt or URI template, by name.
        optional arguments: Map<String> = "arguments",
    }
}

object! {
    /// A reference to a prompt by name.
    pub struct PromptReference tagged "type" = "ref/prompt" {
        /// The prompt's name.
        required name: String = "name",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
    }
}

object! {
    /// A reference to a resource or resource template by URI.
    pub struct ResourceReference tagged "type" = "ref/resource" {
        /// The URI or URI template.
        required uri: String = "uri",
    }
}

/// The prompt or resource template that a completion request refers to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt.
    Prompt(PromptReference),
    /// A resource or resource template.
    Resource(ResourceReference),
    /// A reference of an unknown type, verbatim.
    Other(Raw),
}

impl From<PromptReference> for Reference {
    fn from(prompt: PromptReference) -> Self {
        Self::Prompt(prompt)
    }
}

impl From<ResourceReference> for Reference {
    fn from(resource: ResourceReference) -> Self {
        Self::Resource(resource)
    }
}

serde_impls!(Reference);

impl Encode for Reference {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Prompt(prompt) => prompt.encode(revision, out),
            Self::Resource(resource) => resource.encode(revision, out),
            Self::Other(raw) => raw.encode(revision, out),
        }
    }
}

impl Decode for Reference {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(match &*block_type(reader)? {
            b"ref/prompt" => Self::Prompt(PromptReference::read(reader)?),
            b"ref/resource" => Self::Resource(ResourceReference::read(reader)?),
            _ => Self::Other(reader.raw()),
        })
    }
}

object! {
    /// The result of a `completion/complete` request.
    pub struct CompleteResult {
        /// The suggested values.
        required completion: Completion = "completion",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl From<Vec<String>> for CompleteResult {
    fn from(values: Vec<String>) -> Self {
        Self::new(Completion::from_values(values))
    }
}

object! {
    /// The values suggested for an argument.
    pub struct Completion {
        /// Suggested values, most relevant first; at most 100.
        // SEC-20: longer lists are truncated.
        required values: List<String> = "values",
        /// Total number of matches, if known.
        optional total: i64 = "total",
        /// Whether there are matches that `values` does not contain.
        optional has_more: bool = "hasMore",
    }
}

impl Completion {
    /// Creates a completion from the first 100 of `values`.
    ///
    /// The field `total` counts all `values`; `has_more` is true if some of them were left out.
    // SEC-20: at most 100 values are sent.
    #[must_use]
    pub fn from_values(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(VALUES_MAX);
        let has_more = total > values.len();
        Self::new(values).total(i64::try_from(total).unwrap_or(i64::MAX)).has_more(has_more)
    }
}

const VALUES_MAX: usize = 100;

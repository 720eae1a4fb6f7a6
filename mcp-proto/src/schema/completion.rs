//! Completing what a user has begun to type.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::ResultType;
use super::containers::{List, Map};
use super::content::block_type;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{message, object};
use super::meta::Meta;
use crate::error::Unencodable;
use crate::json::{Raw, Reader};
use crate::revision::{R3, R5, Revision};

object! {
    /// Asks how an argument could go on.
    pub struct Complete {
        /// Whose argument.
        required reference: Reference = "ref",
        /// Which argument, and what is typed of it.
        required argument: Argument = "argument",
        /// What else is known. (since 2025-06-18)
        optional context: CompletionContext = "context" in R3..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "completion/complete": Complete => CompleteResult);

object! {
    /// An argument, as far as it is typed.
    pub struct Argument {
        /// Its name.
        required name: String = "name",
        /// What is typed of it.
        required value: String = "value",
    }
}

object! {
    /// What else is known when an argument is completed. (since 2025-06-18)
    pub struct CompletionContext {
        /// The other arguments.
        optional arguments: Map<String> = "arguments",
    }
}

object! {
    /// A prompt, by its name.
    pub struct PromptReference tagged "type" = "ref/prompt" {
        /// Its name.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
    }
}

object! {
    /// A resource or a template, by its URI.
    pub struct ResourceReference tagged "type" = "ref/resource" {
        /// The URI, or the pattern.
        required uri: String = "uri",
    }
}

/// Whose argument is completed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt's.
    Prompt(PromptReference),
    /// A resource template's.
    Resource(ResourceReference),
    /// Another thing's, as it came.
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
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match &*block_type(reader)? {
            b"ref/prompt" => Self::Prompt(PromptReference::read(reader)?),
            b"ref/resource" => Self::Resource(ResourceReference::read(reader)?),
            _ => Self::Other(reader.raw()),
        })
    }
}

object! {
    /// How an argument could go on.
    pub struct CompleteResult {
        /// How.
        required completion: Completion = "completion",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl From<Vec<String>> for CompleteResult {
    fn from(values: Vec<String>) -> Self {
        Self::new(Completion::of(values))
    }
}

object! {
    /// What an argument could be.
    pub struct Completion {
        /// The best values first, at most 100. (SEC-20)
        required values: List<String> = "values",
        /// How many there are in all.
        optional total: i64 = "total",
        /// There are more than these.
        optional has_more: bool = "hasMore",
    }
}

impl Completion {
    /// As many of `values` as may be sent, and how many there are. (SEC-20)
    #[must_use]
    pub fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(VALUES_MAX);
        let has_more = total > values.len();
        Self::new(values).total(i64::try_from(total).unwrap_or(i64::MAX)).has_more(has_more)
    }
}

const VALUES_MAX: usize = 100;

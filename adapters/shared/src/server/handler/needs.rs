//! The declarations that follow from the type of a handler.

use std::any::TypeId;

use mcp_proto::Raw;

#[cfg(feature = "schemars")]
use crate::server::handler::prompt_arguments::Shape;
#[cfg(feature = "schemars")]
use mcp_proto::schema::ArgumentSchema;

/// The declarations that follow from the types of a handler's parameters and value.
#[derive(Default)]
#[expect(missing_debug_implementations, unnameable_types, reason = "internal")]
pub struct Needs {
    pub(crate) arguments: Arguments,
    pub(crate) output_schema: Option<Raw>,
    pub(crate) states: Vec<NeededState>,
}

/// A state that a handler takes.
#[derive(Clone, Copy)]
pub(crate) struct NeededState {
    pub(crate) name: &'static str,
    /// The type, and an `Arc` of it.
    pub(crate) ids: [TypeId; 2],
}

/// The arguments that a handler takes.
#[derive(Default)]
pub(crate) enum Arguments {
    #[default]
    None,
    /// JSON that no type describes.
    Untyped,
    #[cfg(feature = "schemars")]
    Tool(Result<ArgumentSchema, String>),
    #[cfg(feature = "schemars")]
    Prompt(Result<Shape, String>),
}

//! The kinds of handlers that a method can be.

/// The kind of request that a method handles.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Kind {
    /// The values of an argument of a prompt or a variable of a template.
    Completion,
    Prompt,
    Resource,
    Tool,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Tool, Self::Resource, Self::Prompt, Self::Completion];

    /// Returns the name of the attribute.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Tool => "tool",
        }
    }
}

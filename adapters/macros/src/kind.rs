//! The kinds of handlers that a method can be.

use syn::Signature;

/// What a method handles.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Kind {
    Prompt,
    Resource,
    Tool,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Resource, Self::Prompt];

    /// Returns the name of the attribute.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Tool => "tool",
        }
    }

    /// Returns the signature that such a method has, for errors.
    pub(crate) fn form(self, signature: &Signature) -> String {
        let name = &signature.ident;
        let (start, cx) =
            if signature.asyncness.is_some() { ("async fn", "AsyncCx") } else { ("fn", "Cx") };
        let takes = match self {
            Self::Prompt => "arguments: Arguments",
            Self::Resource => "read: ReadResource",
            Self::Tool => "arguments: Arguments",
        };
        format!("`{start} {name}(&self, {takes}, cx: {cx}) -> Result<.., ToolError>`")
    }
}

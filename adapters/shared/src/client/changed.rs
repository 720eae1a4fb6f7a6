//! The changes that a subscription reports.

use mcp_proto::Raw;

/// A change to a list or resource on the server.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Changed {
    /// Many resources changed, and their changes were merged into this one.
    ///
    /// Any subscribed resource may have changed.
    ManyResources,
    /// The list of prompts changed.
    Prompts,
    /// The resource with this URI changed. This may be a sub-resource of a subscribed resource.
    Resource(String),
    /// The list of resources or of resource templates changed.
    Resources,
    /// The list of tools changed.
    Tools,
}

impl Changed {
    pub(super) fn parse(method: &str, params: Option<&Raw>) -> Option<Self> {
        Some(match method {
            "notifications/prompts/list_changed" => Self::Prompts,
            "notifications/resources/list_changed" => Self::Resources,
            "notifications/tools/list_changed" => Self::Tools,
            "notifications/resources/updated" => {
                Self::Resource(params?.member("uri")?.to_text()?.into())
            }
            _ => return None,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Resource(uri) => uri.len(),
            Self::ManyResources | Self::Prompts | Self::Resources | Self::Tools => 0,
        }
    }
}

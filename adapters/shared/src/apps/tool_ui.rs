//! [`ToolUi`]: the link of a tool to its app.

use mcp_proto::Raw;
use mcp_proto::schema::Tool;
use serde_json::json;

use super::settings::{read_ui, write_ui};

/// The user interface of a tool: `_meta.ui`, as a host reads it.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::apps::ToolUi;
/// use mcp_tokio::proto::schema::Tool;
///
/// fn for_model(tools: Vec<Tool>) -> Vec<Tool> {
///     tools.into_iter().filter(|tool| ToolUi::of(tool).visible_to_model).collect()
/// }
/// # assert_eq!(for_model(vec![Tool::new("now", serde_json::json!({"type": "object"}))]).len(), 1);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolUi {
    /// The URI of the app that shows the results; its scheme is `ui`.
    pub resource_uri: Option<String>,
    /// Whether the model may see and call the tool. If not, hide the tool from the model.
    pub visible_to_model: bool,
    /// Whether apps of this server may call the tool. If not, refuse such calls.
    pub visible_to_app: bool,
}

impl ToolUi {
    /// Reads `_meta.ui`. Tools are visible to both unless they say otherwise.
    ///
    /// A link that does not have the scheme `ui` is left out. A malformed visibility hides the tool
    /// from both.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        let ui = read_ui(tool.meta.as_ref());
        let uri = ui.as_ref().and_then(|ui| ui.member("resourceUri"));
        let uri = uri.as_ref().and_then(Raw::to_text).filter(|uri| is_app_uri(uri));
        let visibility = ui.as_ref().and_then(|ui| ui.member("visibility"));
        let sees = |name| {
            let Some(visibility) = &visibility else { return true };
            visibility.as_bytes().starts_with(b"[")
                && visibility.elements().any(|it| it.to_text().as_deref() == Some(name))
        };
        Self {
            resource_uri: uri.map(String::from),
            visible_to_model: sees("model"),
            visible_to_app: sees("app"),
        }
    }
}

/// Links `tool` to the app at `uri`.
pub(super) fn link(mut tool: Tool, uri: &str, visibility: &[&str]) -> Tool {
    write_ui(&mut tool.meta, json!({"resourceUri": uri, "visibility": visibility}));
    tool
}

/// Returns whether `uri` names an app.
pub(super) fn is_app_uri(uri: &str) -> bool {
    let rest = uri.strip_prefix("ui://");
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.contains(|it: char| it.is_control() || it == ' ')
    })
}

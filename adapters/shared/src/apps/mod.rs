//! MCP Apps: user interfaces of tools, as HTML that hosts show in a sandbox.
//!
//! A server offers an [`App`], a resource with the scheme `ui`, and links tools to it. A host reads
//! the link with [`ToolUi`], fetches the HTML with [`AppPrefetch`], and restricts it as
//! [`AppCsp`] says. Tools also return content for hosts without user interfaces.
//!
//! Showing the HTML, and the messages between it and the host, are left to the host. See
//! [MCP Apps](https://modelcontextprotocol.io/extensions/apps/overview).
//!
//! ```
//! # use mcp_adapter as mcp_tokio;
//! use mcp_tokio::apps::{self, App};
//! use mcp_tokio::{Cx, Server, Tool};
//!
//! let now = Tool::new("now", |cx: Cx| {
//!     // A host without user interfaces gets more text.
//!     if apps::is_supported_by(cx.peer()) { "12:00" } else { "It is 12:00 UTC" }
//! })
//! .description("Tells the time");
//! let clock = App::new("ui://clock/face.html", "clock", "<!DOCTYPE html><title>Clock</title>")?;
//! let server =
//!     Server::new("clock", "1.0.0").extension(apps::extension()).add(clock.tool(now));
//! # drop(server);
//! # Ok::<(), apps::InvalidApp>(())
//! ```

mod app;
mod csp;
mod prefetch;
mod settings;
mod tool_ui;

use mcp_proto::{Extension, Peer};
use serde_json::json;

pub use self::app::{App, InvalidApp};
pub use self::csp::AppCsp;
pub use self::prefetch::{AppContents, AppPrefetch};
pub use self::settings::{AppPermission, AppSettings};
pub use self::tool_ui::ToolUi;

/// The identifier of the extension.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/ui";

/// The media type of apps, the only one that the extension defines.
pub const MEDIA_TYPE: &str = settings::MEDIA_TYPE;

/// Returns the declaration of the extension, for `Server::extension` and `Client::extension`.
///
/// A client declares it only if its host shows apps.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Client, apps};
///
/// let host = Client::new("host", "1.0.0").extension(apps::extension());
/// # drop(host);
/// ```
#[must_use]
pub fn extension() -> Extension {
    Extension::new(EXTENSION_ID).settings(json!({"mimeTypes": [MEDIA_TYPE]}))
}

/// Returns whether the peer shows apps that are HTML.
#[must_use]
pub fn is_supported_by(peer: &Peer) -> bool {
    let settings = peer.extension(EXTENSION_ID);
    let types = settings.and_then(|settings| settings.member("mimeTypes"));
    types
        .is_some_and(|types| types.elements().any(|it| it.to_text().as_deref() == Some(MEDIA_TYPE)))
}

//! [`AppPrefetch`]: which apps a host fetches before their tools are called.

use std::collections::VecDeque;

use mcp_proto::schema::{Meta, ReadResourceResult, ResourceContents, Tool};

use super::settings::{AppSettings, MEDIA_TYPE};
use super::tool_ui::ToolUi;

/// The document of an app, as a host fetched it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AppContents {
    /// The URI, with the scheme `ui`.
    pub uri: String,
    /// The HTML document. The server is not trusted: show it in a sandbox only.
    pub html: String,
    /// How the app is shown.
    pub settings: AppSettings,
}

impl AppContents {
    /// Reads the result of `resources/read` for the app at `uri`.
    ///
    /// `listed` is the `_meta` of the resource in the result of `resources/list`, if known. Returns
    /// `None` if the result has no HTML for `uri`.
    #[must_use]
    pub fn read(uri: &str, result: &ReadResourceResult, listed: Option<&Meta>) -> Option<Self> {
        let contents = result.contents.iter().find(|contents| contents.uri() == uri)?;
        let (html, mime_type, meta) = match contents {
            ResourceContents::Text(text) => {
                (text.text.to_string(), &text.mime_type, text.meta.as_ref())
            }
            ResourceContents::Blob(blob) => {
                (String::from_utf8(blob.to_bytes()?).ok()?, &blob.mime_type, blob.meta.as_ref())
            }
            _ => return None,
        };
        let is_app = mime_type.as_deref() == Some(MEDIA_TYPE);
        let settings = AppSettings::read(meta, listed);
        is_app.then(|| Self { uri: uri.to_owned(), html, settings })
    }
}

/// The apps of a list of tools, to be fetched ahead of their calls within bounds.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::apps::AppPrefetch;
/// use mcp_tokio::{Connection, Error};
///
/// async fn fetch(connection: &Connection) -> Result<AppPrefetch, Error> {
///     let mut prefetch = AppPrefetch::new(&connection.list_tools().await?);
///     while let Some(uri) = prefetch.next_uri() {
///         // An app that cannot be read is left out.
///         if let Ok(result) = connection.read_resource(&uri).await {
///             prefetch.insert(&uri, &result);
///         }
///     }
///     Ok(prefetch)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct AppPrefetch {
    pending: VecDeque<String>,
    fetched: Vec<AppContents>,
    bytes_left: usize,
}

impl AppPrefetch {
    /// The maximum number of apps that are fetched: 32.
    pub const APPS_MAX: usize = 32;
    /// The default of [`bytes_max`](Self::bytes_max): 8 MiB.
    pub const BYTES_MAX: usize = 8 * 1024 * 1024;

    /// Plans to fetch the apps of `tools`, each once, and at most [`APPS_MAX`](Self::APPS_MAX).
    #[must_use]
    pub fn new(tools: &[Tool]) -> Self {
        let mut pending = VecDeque::new();
        for uri in tools.iter().filter_map(|tool| ToolUi::of(tool).resource_uri) {
            if pending.len() < Self::APPS_MAX && !pending.contains(&uri) {
                pending.push_back(uri);
            }
        }
        Self { pending, fetched: Vec::new(), bytes_left: Self::BYTES_MAX }
    }

    /// Sets the maximum total size of the HTML that is kept, in bytes. Default:
    /// [`BYTES_MAX`](Self::BYTES_MAX). Call this before the first [`insert`](Self::insert).
    ///
    /// An app that would exceed the maximum is not kept.
    #[must_use]
    pub const fn bytes_max(mut self, bytes_max: usize) -> Self {
        self.bytes_left = bytes_max;
        self
    }

    /// Returns the URI of the next app to read, for `resources/read`; `None` after the last one,
    /// and once no bytes are left.
    pub fn next_uri(&mut self) -> Option<String> {
        if self.bytes_left == 0 { None } else { self.pending.pop_front() }
    }

    /// Keeps the app at `uri` from the `result` of reading it. Returns false if the result is not
    /// an app, or would exceed [`bytes_max`](Self::bytes_max).
    pub fn insert(&mut self, uri: &str, result: &ReadResourceResult) -> bool {
        let app = AppContents::read(uri, result, None);
        let Some(app) = app.filter(|app| app.html.len() <= self.bytes_left) else { return false };
        self.bytes_left -= app.html.len();
        self.fetched.push(app);
        true
    }

    /// Returns the app of a tool, if it was fetched.
    #[must_use]
    pub fn app(&self, tool: &Tool) -> Option<&AppContents> {
        let uri = ToolUi::of(tool).resource_uri?;
        self.fetched.iter().find(|app| app.uri == uri)
    }
}

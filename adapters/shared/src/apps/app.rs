//! [`App`]: the user interface of tools, as a server offers it.

use std::fmt;

use mcp_proto::schema::{self, ResourceContents, Str};

use super::settings::{AppSettings, MEDIA_TYPE};
use super::tool_ui::{is_app_uri, link};
use crate::server::catalog::entries::resource::Resource;
use crate::server::catalog::entries::tool::Tool;
use crate::server::settings::ServerSettings;
use crate::server::settings::additions::AddTo;

/// A user interface in HTML, with the tools whose results it shows.
///
/// [`Server::add`](crate::Server::add) adds all of it, so that no tool is linked to an app that
/// does not exist. See [MCP Apps](https://modelcontextprotocol.io/extensions/apps/overview), and
/// the [module](super) for an example.
#[must_use = "an app does nothing until it is added"]
pub struct App {
    resource: schema::Resource,
    html: Str,
    tools: Vec<Tool>,
}

impl App {
    /// Creates an app of this HTML document.
    ///
    /// # Errors
    /// Fails unless `uri` begins with `ui://`.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::apps::App;
    ///
    /// let error = App::new("https://example.com", "clock", "<!DOCTYPE html>").unwrap_err();
    /// assert!(error.to_string().contains("ui://"));
    /// ```
    pub fn new(uri: &str, name: &str, html: impl Into<Str>) -> Result<Self, InvalidApp> {
        if !is_app_uri(uri) {
            return Err(InvalidApp(format!(
                "{uri:?} is not the URI of an app: begin with `ui://`"
            )));
        }
        let mut resource = schema::Resource::new(uri, name);
        resource.mime_type = Some(MEDIA_TYPE.to_owned());
        Ok(Self { resource, html: html.into(), tools: Vec::new() })
    }

    /// Sets how the app is shown. Default: the most restrictive settings.
    ///
    /// # Errors
    /// Fails if the settings contain a value that is not an origin; see
    /// [`AppCsp`](super::AppCsp).
    pub fn settings(mut self, settings: &AppSettings) -> Result<Self, InvalidApp> {
        if let Some(invalid) = settings.csp.invalid() {
            let why = format!("{invalid:?} is not an origin such as `https://api.example.com`");
            return Err(InvalidApp(why));
        }
        settings.write(&mut self.resource.meta);
        Ok(self)
    }

    /// Adds a tool for models and for the app, which shows its results.
    pub fn tool(self, tool: Tool) -> Self {
        self.linked(tool, &["model", "app"])
    }

    /// Adds a tool for the app only. Hosts hide it from models.
    pub fn tool_for_app(self, tool: Tool) -> Self {
        self.linked(tool, &["app"])
    }

    fn linked(mut self, tool: Tool, visibility: &[&str]) -> Self {
        let uri = &self.resource.uri;
        self.tools.push(tool.describe(|tool| link(tool, uri, visibility)));
        self
    }
}

/// Adds the app and its tools.
impl AddTo for App {
    fn add_to(self, server: &mut ServerSettings) {
        let Self { resource, html, tools } = self;
        let meta = resource.meta.clone();
        let entry = Resource::define(resource, move || {
            let mut contents = ResourceContents::text("", html.clone()).mime_type(MEDIA_TYPE);
            if let ResourceContents::Text(text) = &mut contents {
                text.meta.clone_from(&meta);
            }
            contents
        });
        entry.add_to(server);
        tools.into_iter().for_each(|tool| tool.add_to(server));
    }
}

// Shows the URI.
opaque_debug!(App, it => uri: it.resource.uri);

/// Why an app is invalid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidApp(String);

impl fmt::Display for InvalidApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidApp {}

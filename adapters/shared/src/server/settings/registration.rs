//! Registration of entries and of the state of their handlers.

use std::sync::Arc;

use crate::server::Server;
use crate::server::catalog::entries::prompt::Prompt;
use crate::server::catalog::entries::resource::Resource;
use crate::server::catalog::entries::template::Template;
use crate::server::catalog::entries::tool::Tool;
use crate::server::handler::function::Handler;
use crate::server::handler::kind::{PromptGet, ResourceRead, ToolCall};
use crate::server::settings::additions::Addition;

/// Entries: tools, resources, resource templates and prompts.
impl<R> Server<R> {
    /// Sets the state that handlers take as [`State<S>`](crate::State).
    ///
    /// A server can have one state of each type; a second one replaces the first. The server does
    /// not start if a handler takes a state that was not set.
    pub fn state<S: Send + Sync + 'static>(mut self, state: S) -> Self {
        Arc::make_mut(&mut self.settings.builder.states).insert(state);
        self
    }

    /// Adds a tool; see [`Tool`].
    ///
    /// All tools are on one page of the list if they fit into 15 MiB, because many hosts read only
    /// the first; see [`page_max`](crate::Lists::page_max).
    pub fn tool<M>(
        self,
        name: &str,
        description: &str,
        handler: impl Handler<ToolCall, M>,
    ) -> Self {
        self.add(Tool::new(name, handler).description(description))
    }

    /// Adds a resource; see [`Resource`].
    pub fn resource<M>(
        self,
        uri: &str,
        name: &str,
        handler: impl Handler<ResourceRead, M>,
    ) -> Self {
        self.add(Resource::new(uri, name, handler))
    }

    /// Adds a resource template; see [`Template`].
    pub fn template<M>(
        self,
        uri_template: &str,
        name: &str,
        handler: impl Handler<ResourceRead, M>,
    ) -> Self {
        self.add(Template::new(uri_template, name, handler))
    }

    /// Adds a prompt; see [`Prompt`].
    pub fn prompt<M>(
        self,
        name: &str,
        description: &str,
        handler: impl Handler<PromptGet, M>,
    ) -> Self {
        self.add(Prompt::new(name, handler).description(description))
    }

    /// Adds a [`Tool`], [`Resource`], [`Template`] or [`Prompt`], or another [`Addition`].
    ///
    /// Use this instead of [`tool`](Self::tool) and the like for an entry with options, such as
    /// hints, scopes or a schema. The start of the server fails if the entry is invalid, or if its
    /// name is taken.
    #[expect(clippy::should_implement_trait, reason = "it adds an entry to a list")]
    pub fn add(mut self, addition: impl Addition) -> Self {
        addition.add_to(&mut self.settings);
        self
    }
}

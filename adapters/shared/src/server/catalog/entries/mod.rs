//! The entries of a server: tools, resources, resource templates and prompts with their handlers.

pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod template;
pub(crate) mod tool;

/// Implements the setters that all entries have.
macro_rules! common_setters {
    ($entry:ident, $definition:ty, $what:literal $(, $description:literal)?) => {
        impl $entry {
            #[doc = concat!("Sets the description of the ", $what, ".")]
            $(#[doc = concat!("\n\n", $description)])?
            pub fn description(self, description: &str) -> Self {
                self.describe(|definition| definition.description(description))
            }

            #[doc = concat!("Sets the title of the ", $what, ", which hosts show to users.")]
            pub fn title(self, title: &str) -> Self {
                self.describe(|definition| definition.title(title))
            }

            #[doc = concat!("Sets the icons of the ", $what, ".")]
            pub fn icons(self, icons: impl Into<mcp_proto::schema::List<Icon>>) -> Self {
                self.describe(|definition| definition.icons(icons))
            }

            /// Changes the definition that clients receive, for what has no method here.
            pub fn describe(mut self, describe: impl FnOnce($definition) -> $definition) -> Self {
                self.definition = describe(self.definition);
                self
            }

            #[doc = concat!("Makes requests for the ", $what, " need these scopes.")]
            ///
            /// Over HTTP, the access token of a request to call, read, get, complete or subscribe
            /// to the entry must have all scopes; see `Http::authorizing`. Otherwise, the handler
            /// does not run, and the client receives status 403 with a challenge that names the
            /// scopes. It may then ask its user for them and try again. A batch with such a request
            /// is refused as a whole. Over stdio and other byte streams, scopes have no effect.
            ///
            /// Reading or subscribing to a resource also needs the scopes of its lookalikes: of the
            /// entries that would serve its URI if reserved characters such as `/` were not
            /// percent-encoded. A template without scopes therefore does not serve
            /// `file:///a%2Fb` in place of `file:///a/b`.
            ///
            /// A server with such entries starts over HTTP only with `Http::authorizing`. Can be
            /// called again to add more scopes.
            pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
                self.scopes.extend(scopes.into_iter().map(str::to_owned));
                self
            }

            #[doc = concat!("Sets a function that decides who may see the ", $what, ".")]
            ///
            /// For a caller for which `is_visible` returns false, the entry is missing in lists,
            /// and requests for it are answered as if it did not exist. Which principals see what
            /// can also be decided for all entries together, with
            /// [`Lists::visible_to`](crate::Lists::visible_to): its rules apply here, too, and an
            /// entry is visible if both functions agree.
            pub fn visible_to(
                mut self,
                is_visible: impl Fn(&mcp_proto::Caller) -> bool + Send + Sync + 'static,
            ) -> Self {
                self.handler.set_visible_to(std::sync::Arc::new(is_visible));
                self
            }
        }

        opaque_debug!($entry, it => definition: it.definition);
    };
}
use common_setters;

/// Implements the setter of resources and resource templates.
macro_rules! content_setters {
    ($entry:ident) => {
        impl $entry {
            /// Sets the media type of the contents.
            pub fn mime_type(self, mime_type: &str) -> Self {
                self.describe(|definition| definition.mime_type(mime_type))
            }
        }
    };
}
use content_setters;

/// Implements the setter of entries with completions.
macro_rules! completion_setters {
    ($entry:ident, $what:literal) => {
        impl $entry {
            #[doc = concat!("Sets the completion handler of ", $what, ".")]
            ///
            /// Clients use completions only if the server declares them; see
            /// [`Changes::edit`](crate::Changes::edit).
            pub fn completion<M>(
                mut self,
                name: &str,
                handler: impl Handler<CompletionRequest, M>,
            ) -> Self {
                let Prepared { handler, needs } = handler.prepare();
                self.completions.push((name.to_owned(), handler));
                self.states.extend(needs.states);
                self
            }
        }
    };
}
use completion_setters;

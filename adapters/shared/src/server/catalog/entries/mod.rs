//! The entries of a server: tools, resources, resource templates and prompts with their handlers.

pub(crate) mod prompt;
pub(crate) mod resource;
pub(crate) mod template;
pub(crate) mod tool;

/// Implements the setters that all entries have.
macro_rules! common_setters {
    ($entry:ident, $definition:ty, $what:literal) => {
        impl $entry {
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
        }

        impl std::fmt::Debug for $entry {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($entry))
                    .field("definition", &self.definition)
                    .finish_non_exhaustive()
            }
        }
    };
}
use common_setters;

//! Extensions of a server: their declaration, and the handlers of their requests.

use std::sync::Arc;

use mcp_proto::Extension;
use mcp_proto::schema::{ClientRequest, Decode, Encode};

use crate::server::Server;
use crate::server::handler::HandlerFn;
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::MethodCall;
use crate::server::handler::needs::NeededState;
use crate::server::settings::ServerSettings;
use crate::server::settings::additions::AddTo;

/// Extensions of the protocol.
impl<R> Server<R> {
    /// Declares an extension of the protocol.
    ///
    /// A [`MethodHandler`] serves one of its requests, and
    /// [`on_notification`](Self::on_notification) receives its notifications.
    /// [`Changes::element_changed`] notifies subscribers of an element of its listen keys, and
    /// [`ClientHandle::notify_raw`] sends a notification to one client in the legacy era.
    ///
    /// An extension is used only with clients that also declare it. A request of another client is
    /// refused, and the error data names the extension; the error code is `-32021` in the modern
    /// era (from revision 2026-07-28) and `-32603` in the legacy era. If only servers declare your
    /// extension, leave its requests out of it; see [`MethodHandler::without_extension`]. A handler
    /// finds out with `cx.peer().extension(id)`, which returns the settings of the client, and does
    /// without the extension otherwise. See [extensions].
    ///
    /// The start of the server fails if the extension is invalid, or contradicts the protocol or
    /// another extension.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::Extension;
    /// use mcp_tokio::{Cx, Server};
    ///
    /// const ID: &str = "com.example/metric";
    ///
    /// let server = Server::new("weather", "1.0.0")
    ///     .extension(Extension::new(ID))
    ///     .tool("today", "Returns the weather", |cx: Cx| {
    ///         if cx.peer().extension(ID).is_some() { "20 °C" } else { "68 °F" }
    ///     });
    /// # drop(server);
    /// ```
    ///
    /// [extensions]: https://modelcontextprotocol.io/extensions/overview
    /// [`Changes::element_changed`]: crate::Changes::element_changed
    /// [`ClientHandle::notify_raw`]: crate::ClientHandle::notify_raw
    pub fn extension(mut self, extension: Extension) -> Self {
        self.settings.declare(extension);
        self
    }
}

impl ServerSettings {
    pub(crate) fn declare(&mut self, extension: Extension) {
        let Self { builder, callbacks, .. } = self;
        let keys = extension.listen_keys().map(Into::into);
        Arc::make_mut(callbacks).listen_keys.extend(keys);
        builder.config = builder
            .extensions
            .declare(&builder.config, extension, |config, it| config.extension(it));
    }
}

impl<Q> AddTo for MethodHandler<Q>
where
    Q: ClientRequest<Result: Encode + Send> + Decode + Send + 'static,
{
    fn add_to(self, server: &mut ServerSettings) {
        let Self { handler, scopes, states, is_of_extension } = self;
        if !scopes.is_empty()
            && let Err(why) = handler.scopes().set(scopes)
        {
            server.builder.refuse(&format!("the scopes of method {:?}: {why}", Q::METHOD));
        }
        server.unregistered.edit().methods.insert(handler);
        server.builder.register_method(Q::METHOD, is_of_extension, states);
    }
}

/// The handler of a request that an [extension](Server::extension) defines, for [`Server::add`].
///
/// The start of the server fails if no declared extension has the request, or if it has another
/// handler.
///
/// The request is a type that implements [`ClientRequest`], with [`Decode`] for its params; its
/// result also implements [`Encode`]. Requests whose params cannot be decoded are refused with the
/// error code `-32602`. The handler runs like that of a tool: with its context, and within the
/// [layers](Server::layer).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{MethodHandler, Server};
/// use mcp_tokio::proto::schema::{ClientRequest, Decode, DecodeError, Encode};
/// use mcp_tokio::proto::schema::{JsonReader, Serialized};
/// use mcp_tokio::proto::{Extension, ExtensionMethod, Raw, Revision, Side, Unencodable};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, Serialize)]
/// struct Draw {
///     shape: String,
/// }
///
/// impl ClientRequest for Draw {
///     const METHOD: &'static str = "com.example/draw";
///     type Result = Raw;
/// }
///
/// impl Decode for Draw {
///     fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
///         Ok(Serialized::read(reader)?.0)
///     }
/// }
///
/// impl Encode for Draw {
///     fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
///         Serialized(self).encode(revision, out)
///     }
/// }
///
/// let draw = ExtensionMethod::request(Side::Client, Draw::METHOD);
/// let server = Server::new("boards", "1.0.0")
///     .extension(Extension::new("com.example/whiteboard").method(draw))
///     .add(MethodHandler::new(|draw: Draw| {
///         println!("draws a {}", draw.shape);
///         Raw::empty_object()
///     }));
/// # drop(server);
/// ```
#[must_use = "a method does nothing until it is added"]
pub struct MethodHandler<Q: ClientRequest> {
    handler: HandlerFn<Q, Q::Result>,
    scopes: Vec<String>,
    states: Vec<NeededState>,
    is_of_extension: bool,
}

impl<Q: ClientRequest<Result: Encode + Send> + Decode + Send + 'static> MethodHandler<Q> {
    /// Creates the handler of a request that a declared extension defines.
    pub fn new<M>(handler: impl Handler<MethodCall<Q>, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        Self { handler, scopes: Vec::new(), states: needs.states, is_of_extension: true }
    }

    /// Makes the request one that neither the protocol nor a declared extension defines.
    ///
    /// All clients can send it, also those that declare no extension. The start of the server fails
    /// if the protocol or a declared extension has the request.
    pub fn without_extension(mut self) -> Self {
        self.is_of_extension = false;
        self
    }

    /// Makes the requests need these scopes; see [`Tool::requires`](crate::Tool::requires).
    pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.scopes.extend(scopes.into_iter().map(str::to_owned));
        self
    }
}

opaque_debug!(MethodHandler<Q> [Q: ClientRequest], _it => method: Q::METHOD);

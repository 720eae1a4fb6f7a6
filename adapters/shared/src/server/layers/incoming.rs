//! A request as layers see it.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::schema::{CallTool, ClientRequest, Complete, Decode, GetPrompt, ReadResource, Str};
use mcp_proto::{Instant, Principal, Raw, Request};

use crate::server::handler::context::Cx;

/// A request on its way through the layers of a server.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::layers::{Incoming, Next};
/// use mcp_tokio::{FromLayer, Server};
///
/// struct Tenant(String);
///
/// let server = Server::new("notes", "1.0.0")
///     .layer(|request: Incoming, next: Next| async move {
///         let tenant = request.principal().map_or("public", |user| user.id());
///         request.set_extension(Tenant(tenant.to_owned()));
///         request.cx().sleep(Duration::from_millis(1)).await;
///         next.run(request).await
///     })
///     .tool("tenant", "Returns the tenant", |tenant: FromLayer<Tenant>| {
///         tenant.0.0.clone()
///     });
/// # drop(server);
/// ```
pub struct Incoming {
    cx: Cx,
}

/// When a request is answered although the function that handles it still runs. An extension of
/// the request.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    /// The timeout that expires then, for the error.
    pub(super) timeout: Duration,
}

impl Incoming {
    pub(super) const fn new(cx: Cx) -> Self {
        Self { cx }
    }

    pub(super) fn into_cx(self) -> Cx {
        self.cx
    }

    /// Returns the method, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.cx.request.request.method
    }

    /// Returns the name of the tool or prompt, or the URI of the resource, that the request names.
    ///
    /// For a completion, returns the name of the prompt or the URI of the resource template.
    /// Returns `None` for other methods. The client chose the text: it may be long, and it may name
    /// nothing that the server has.
    ///
    /// Scans the params at each call.
    #[must_use]
    pub fn name(&self) -> Option<Str> {
        name_of(&self.cx.request.request)
    }

    /// Returns the params; `None` if the request has none.
    #[must_use]
    pub fn params(&self) -> Option<&Raw> {
        self.cx.request.request.params.as_ref()
    }

    /// Returns the arguments of a tool or prompt; `None` if the request has none.
    ///
    /// Scans the params at each call.
    #[must_use]
    pub fn arguments(&self) -> Option<Raw> {
        match self.method() {
            CallTool::METHOD | GetPrompt::METHOD => self.params()?.member("arguments"),
            _ => None,
        }
    }

    /// Returns an entry of the request's `_meta`, such as `traceparent`.
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<Raw> {
        self.cx.context().meta.as_ref()?.member(key)
    }

    /// Returns the authenticated sender of the request.
    ///
    /// Returns `None` if the sender is not authenticated, as over stdio.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.cx.principal()
    }

    /// Returns the id of the client's HTTP session (feature `http`); see
    /// [`Cx::session_id`](crate::Cx::session_id).
    #[cfg(feature = "http")]
    #[must_use]
    pub fn session_id(&self) -> Option<String> {
        self.cx.request.link.lock().connection.session_id()
    }

    /// Returns the context of the request, which handlers receive as well.
    ///
    /// Layers use it, for example, to sleep and to read the client's description.
    #[must_use]
    pub const fn cx(&self) -> &Cx {
        &self.cx
    }

    /// Attaches a value to the request, for inner layers and the handler.
    ///
    /// Replaces an earlier value of type `T`. Handlers read the value with
    /// [`Cx::extension`](crate::Cx::extension).
    pub fn set_extension<T: Send + Sync + 'static>(&self, value: T) {
        self.cx.request.extensions.insert(value);
    }

    /// Returns the value of type `T` that an outer layer attached.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.cx.extension()
    }
}

/// Returns what a request names: a tool, a prompt, a resource or a resource template.
pub(super) fn name_of(request: &Request) -> Option<Str> {
    let params = request.params.as_ref()?;
    let name = match &*request.method {
        CallTool::METHOD | GetPrompt::METHOD => params.member("name"),
        ReadResource::METHOD => params.member("uri"),
        Complete::METHOD => {
            let reference = params.member("ref")?;
            reference.member("name").or_else(|| reference.member("uri"))
        }
        _ => None,
    };
    Str::decode(&name?).ok()
}

opaque_debug!(Incoming, it => method: it.method());

//! Extensions: additions to the protocol that both sides declare, as values.

mod error;
mod method;
mod table;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

pub use error::ExtensionError;
pub use method::ExtensionMethod;
pub(crate) use table::Extensions;

use crate::json::Raw;
use crate::revision::{Revision, Side};

/// An [extension] of the protocol: its identifier, its settings, and all that it adds.
///
/// An extension is declared with [`server::Config::extension`] and [`client::Config::extension`],
/// in every revision that it exists in. What it adds is used only with a peer that also declares
/// the extension:
///
/// - Requests and notifications of [its methods](Self::method) arrive as events. A request of a
///   peer without the extension is refused with
///   [`MISSING_CLIENT_CAPABILITY`](crate::code::MISSING_CLIENT_CAPABILITY), and its error data
///   names the extension. A notification of such a peer is dropped as a violation, with one
///   exception: modern clients declare extensions only in requests, so that all notifications of
///   theirs arrive.
/// - Commands that use the extension fail with [`Misuse::Undeclared`](crate::Misuse::Undeclared) if
///   the peer lacks it, so that the application can do without.
///   [`Peer::extension`](crate::Peer::extension) tells beforehand.
/// - [Its listen keys](Self::listen_key) are part of the filters of subscriptions.
/// - [Its result types](Self::result_type) are accepted and sent for the methods that it names.
///
/// The requests themselves are types that implement
/// [`ClientRequest`](crate::schema::ClientRequest) or
/// [`ServerRequest`](crate::schema::ServerRequest), like those of the protocol.
///
/// ```
/// use mcp_proto::{Extension, ExtensionMethod, Raw, Side, client, server};
///
/// let whiteboard = Extension::new("com.example/whiteboard")
///     .settings(Raw::from_text(r#"{"colors":8}"#).unwrap())
///     .method(ExtensionMethod::request(Side::Client, "com.example/draw").named_by("board"))
///     .method(ExtensionMethod::notification(Side::Server, "notifications/com.example/drawn"))
///     .result_type("tools/call", "sketch");
/// let server = server::Config::new("boards", "1.0.0").extension(whiteboard.clone()).unwrap();
/// let client = client::Config::new("demo", "1.0.0").extension(whiteboard).unwrap();
/// ```
///
/// [extension]: https://modelcontextprotocol.io/extensions/overview
/// [`server::Config::extension`]: crate::server::Config::extension
/// [`client::Config::extension`]: crate::client::Config::extension
#[derive(Clone, Debug)]
pub struct Extension {
    pub(crate) id: Box<str>,
    pub(crate) settings: Raw,
    pub(crate) revisions: RangeInclusive<Revision>,
    pub(crate) methods: Vec<ExtensionMethod>,
    /// The additional result types, each with the method whose results may have it.
    pub(crate) result_types: Vec<(Box<str>, Box<str>)>,
    pub(crate) listen_keys: Vec<Box<str>>,
}

impl Extension {
    /// The maximum number of extensions that one side can declare.
    pub const COUNT_MAX: usize = 32;

    /// The maximum number of methods, of result types, and of listen keys of one extension.
    pub const ROWS_MAX: usize = 64;

    /// Creates an extension without settings that exists in every revision.
    ///
    /// `id` is a name with a prefix, such as `com.example/whiteboard`. The prefix should be a
    /// reversed domain name of the extension's author.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self {
            id: id.into(),
            settings: Raw::empty_object(),
            revisions: Revision::V2024_11_05..=Revision::V2026_07_28,
            methods: Vec::new(),
            result_types: Vec::new(),
            listen_keys: Vec::new(),
        }
    }

    /// Sets the settings that this side declares, a JSON object. Default: an empty object.
    #[must_use]
    pub fn settings(mut self, settings: impl Into<Raw>) -> Self {
        self.settings = settings.into();
        self
    }

    /// Sets the revisions that the extension exists in. Default: all.
    ///
    /// In other revisions, the extension is neither declared nor used.
    #[must_use]
    pub const fn revisions(mut self, revisions: RangeInclusive<Revision>) -> Self {
        self.revisions = revisions;
        self
    }

    /// Adds a request or a notification.
    #[must_use]
    pub fn method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(method);
        self
    }

    /// Adds a `resultType` of the results of `method`, which the protocol or this extension
    /// defines.
    ///
    /// A result of this type completes the call, and the application reads its `resultType`. The
    /// results of other methods cannot have the type. Only modern results have a `resultType`; see
    /// [Messages](https://modelcontextprotocol.io/specification/2026-07-28/basic#messages).
    #[must_use]
    pub fn result_type(mut self, method: &str, result_type: &str) -> Self {
        self.result_types.push((method.into(), result_type.into()));
        self
    }

    /// Adds a member of the filters of subscriptions whose value is a list of strings.
    ///
    /// A client selects elements with [`Filter::element`](crate::Filter::element). A server reports
    /// to the subscriptions that select an element with
    /// [`Change::Extension`](crate::Change::Extension). See [Subscriptions](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions).
    #[must_use]
    pub fn listen_key(mut self, key: &str) -> Self {
        self.listen_keys.push(key.into());
        self
    }

    /// Returns the identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether the extension has a request called `method` that `sender` sends.
    #[must_use]
    pub fn has_request(&self, sender: Side, method: &str) -> bool {
        let is_it = |it: &ExtensionMethod| it.is_request && it.is_sent_by(sender);
        self.methods.iter().any(|it| &*it.name == method && is_it(it))
    }

    /// Returns the [listen keys](Self::listen_key).
    pub fn listen_keys(&self) -> impl Iterator<Item = &str> {
        self.listen_keys.iter().map(|key| &**key)
    }
}

#[cfg(test)]
mod tests;

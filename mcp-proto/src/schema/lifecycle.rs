//! Implementation identity, the legacy handshake, and pings.

use alloc::string::String;

use super::capabilities::Capabilities;
use super::common::{Icon, ResultType};
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::{R3, R4, R5};

object! {
    /// The name and version of a client or server.
    ///
    /// For display and logs only: do not make behaviour depend on it.
    // STL-06: identity is for display and logs.
    pub struct Implementation {
        /// Identifier of the implementation; `title` is its display name.
        required name: String = "name",
        /// Version of the implementation.
        required version: String = "version",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
        /// Description of the implementation. (since 2025-11-25)
        optional description: String = "description" in R4..=R5,
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// URL of the implementation's website. (since 2025-11-25)
        optional website_url: String = "websiteUrl" in R4..=R5,
    }
}

object! {
    /// The params of an `initialize` request, which opens a session. (up to 2025-11-25)
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>.
    // LIF-01: the first message of a legacy client.
    pub struct Initialize {
        /// Name of the revision that the client proposes.
        required protocol_version: String = "protocolVersion",
        /// The client's capabilities.
        ///
        /// On decoded capabilities, [`Capabilities::has`] always returns `false`: call it on the
        /// result of [`Capabilities::reinterpret`] instead.
        required capabilities: Capabilities = "capabilities",
        /// The client's name and version.
        required client_info: Implementation = "clientInfo",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of an `initialize` request. (up to 2025-11-25)
    // LIF-07: the negotiated revision, the capabilities and the server's identity.
    pub struct InitializeResult {
        /// Name of the negotiated revision.
        required protocol_version: String = "protocolVersion",
        /// The server's capabilities.
        ///
        /// On decoded capabilities, [`Capabilities::has`] always returns `false`: call it on the
        /// result of [`Capabilities::reinterpret`] instead.
        required capabilities: Capabilities = "capabilities",
        /// The server's name and version.
        required server_info: Implementation = "serverInfo",
        /// Instructions for the model on using the server.
        optional instructions: String = "instructions",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "initialize": Initialize => InitializeResult);

object! {
    /// The params of a `notifications/initialized` notification. (up to 2025-11-25)
    ///
    /// The client sends this notification after accepting the result of `initialize`.
    // LIF-08: sent once `initialize` is answered.
    pub struct Initialized {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/initialized": Initialized);

object! {
    /// The params of a `ping` request, which either side may send. (up to 2025-11-25)
    ///
    /// A response shows that the peer is alive.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping>.
    pub struct Ping {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "ping": Ping => EmptyResult);
message!(ServerRequest "ping": Ping => EmptyResult);

object! {
    /// A result that only confirms success.
    pub struct EmptyResult {
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

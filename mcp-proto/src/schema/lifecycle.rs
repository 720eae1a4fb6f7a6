//! Who is who, and the handshake.

use alloc::string::String;

use super::capabilities::Capabilities;
use super::common::{Icon, ResultType};
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::{R3, R4, R5};

object! {
    /// The name and version of an implementation, for people to read: behaviour must not hang on them. (STL-06)
    pub struct Implementation {
        /// A name for machines.
        required name: String = "name",
        /// Its version.
        required version: String = "version",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
        /// What it is.
        optional description: String = "description" in R4..=R5,
        /// Pictures of it.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Where to read about it: a URL.
        optional website_url: String = "websiteUrl" in R4..=R5,
    }
}

object! {
    /// Opens a session. (up to 2025-11-25, LIF-01)
    pub struct Initialize {
        /// The revision that the client would speak.
        required protocol_version: String = "protocolVersion",
        /// What the client can do.
        required capabilities: Capabilities = "capabilities",
        /// Who it is.
        required client_info: Implementation = "clientInfo",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// What a server says to open a session. (up to 2025-11-25, LIF-07)
    pub struct InitializeResult {
        /// The revision to speak.
        required protocol_version: String = "protocolVersion",
        /// What the server can do.
        required capabilities: Capabilities = "capabilities",
        /// Who it is.
        required server_info: Implementation = "serverInfo",
        /// What a model should know before it uses the server.
        optional instructions: String = "instructions",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "initialize": Initialize => InitializeResult);

object! {
    /// Says that the client is all set. (up to 2025-11-25, LIF-08)
    pub struct Initialized {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/initialized": Initialized);

object! {
    /// Asks whether the peer is there; either side may. (up to 2025-11-25)
    pub struct Ping {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "ping": Ping => Empty);
message!(ServerRequest "ping": Ping => Empty);

object! {
    /// A result that says nothing but that it worked.
    pub struct Empty {
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

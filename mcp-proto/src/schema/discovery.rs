//! Server discovery. (since 2026-07-28)

use alloc::string::String;

use super::capabilities::Capabilities;
use super::common::{CacheScope, ResultType};
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::R5;

object! {
    /// The params of a `server/discover` request. (since 2026-07-28)
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>.
    pub struct Discover {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `server/discover` request. (since 2026-07-28)
    // LIF-22: what `server/discover` returns.
    pub struct DiscoverResult {
        /// Names of the revisions that the server supports.
        required supported_versions: List<String> = "supportedVersions",
        /// The server's capabilities.
        ///
        /// On decoded capabilities, [`Capabilities::has`] always returns `false`: call it on the
        /// result of [`Capabilities::reinterpret`] instead.
        required capabilities: Capabilities = "capabilities",
        /// Instructions for the model on using the server.
        optional instructions: String = "instructions",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// How long the result may be cached, in milliseconds. Default: 0. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Which users may share a cached copy. Default: `Private`. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "server/discover": Discover => DiscoverResult);

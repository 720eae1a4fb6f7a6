//! Asking a server what it is. (since 2026-07-28)

use alloc::string::String;

use super::capabilities::Capabilities;
use super::common::{CacheScope, ResultType};
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::R5;

object! {
    /// Asks a server what it is. (since 2026-07-28)
    pub struct Discover {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// What a server is. (since 2026-07-28, LIF-22)
    pub struct DiscoverResult {
        /// The names of the revisions that it speaks.
        required supported_versions: List<String> = "supportedVersions",
        /// What it can do.
        required capabilities: Capabilities = "capabilities",
        /// What a model should know before it uses the server.
        optional instructions: String = "instructions",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// For how many milliseconds the result is good. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Who may share it. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "server/discover": Discover => DiscoverResult);

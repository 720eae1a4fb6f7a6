//! The items and variables that fragments in the README use without showing them.

pub(crate) use mcp_proto::schema::CallTool;
pub(crate) use mcp_proto::server;
pub(crate) use mcp_proto::testing;
pub(crate) use mcp_proto::{CallOptions, client};
pub(crate) use mcp_tokio::Client;

use mcp_proto::Instant;
use mcp_proto::stdio::Stdio;
use schemars::JsonSchema;
use serde::Deserialize;

/// The variables of a fragment.
pub(crate) struct Variables {
    /// What a simulation is seeded with.
    pub(crate) seed: u64,
    /// A server that is ready to be served.
    pub(crate) server: mcp_tokio::Server,
}

/// The input of the tool in the README.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Today {
    /// The name of a city.
    pub(crate) city: String,
}

/// Fetches today's weather.
#[allow(clippy::unused_async, reason = "takes the place of a request")]
pub(crate) async fn fetch(city: &str) -> Result<String, std::io::Error> {
    Ok(city.to_owned())
}

/// Configures the server under test.
pub(crate) fn my_config() -> server::Config {
    server::Config::new("mine", "1.0.0")
}

/// Serves one event of the server under test.
pub(crate) fn my_server(_: &mut Stdio<server::Server>, _: Instant, _: server::Event) {}

//! Helpers of the HTTP client suite: the clients of each runtime, scripted servers, and our own
//! server behind a proxy.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

mod answer;
mod bare_client;
mod company;
mod forward_proxy;
mod guarded;
mod http2_site;
#[cfg(unix)]
mod local_socket;
mod proxy;
mod request;
mod runtime;
mod script;
mod served;
mod site;
mod trust;

pub use answer::Answer;
pub use bare_client::send_bare;
pub use company::Company;
pub use forward_proxy::ForwardProxy;
pub use guarded::{Guarded, PLANTED, Rules, agreed, browse, proof_of};
pub use http2_site::{Http2Site, Played};
#[cfg(unix)]
pub use local_socket::LocalSocket;
pub use proxy::Proxy;
pub use request::Request;
pub use runtime::OverHttp;
pub use script::{SESSION, legacy, modern, result, said};
pub use served::Served;
pub use site::Site;
pub use trust::Trust;

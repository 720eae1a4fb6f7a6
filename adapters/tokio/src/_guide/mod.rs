//! A guide to servers and clients, from a first tool to deployment.
//!
//! | topic | contents |
//! |---|---|
//! | [`first_server`] | tools, resources and prompts over stdio |
//! | [`first_client`] | starting a server and calling its tools |
//! | [`errors_and_cancellation`] | tool errors, timeouts, progress and cancellation |
//! | [`asking_the_user`] | forms derived from types, and state between input requests |
//! | [`changing_lists`] | entries that change, are many, or are seen by some users only |
//! | [`gateways`] | servers in front of other servers, whose questions reach the user |
//! | [`tasks`] | calls that outlive their response, for servers and clients |
//! | [`middleware`] | timeouts, limits for each user, tracing and metrics |
//! | [`http_and_deployment`] | listening, routers, authorization and graceful stop |
//! | `authorization` (feature `auth`) | access tokens and scopes for servers, logins of clients |
//! | `authorization_extensions` (feature `auth`) | clients without users, DPoP, introspection |
//! | `skills` (feature `skills`) | instructions for models, offered and verified |
//! | [`migrating_from_rmcp`] | the official SDK's concepts and their counterparts |
//!
//! The guide of [`mcp_proto`](crate::proto::_guide) covers limits, tests, protocol revisions and
//! custom event loops.
//!
//! The API of `mcp-smol` is identical. That of `mcp-blocking` differs only in that methods block
//! instead of returning futures, and calls end in `.wait()` instead of `.await`.

#[doc = include_str!("asking_the_user.md")]
pub mod asking_the_user {}
#[cfg(feature = "auth")]
#[doc = include_str!("authorization.md")]
pub mod authorization {}
#[cfg(feature = "auth")]
#[doc = include_str!("authorization_extensions.md")]
pub mod authorization_extensions {}
#[doc = include_str!("changing_lists.md")]
pub mod changing_lists {}
#[doc = include_str!("errors_and_cancellation.md")]
pub mod errors_and_cancellation {}
#[doc = include_str!("first_client.md")]
pub mod first_client {}
#[doc = include_str!("first_server.md")]
pub mod first_server {}
#[doc = include_str!("gateways.md")]
pub mod gateways {}
#[cfg(feature = "http")]
#[doc = include_str!("http_and_deployment.md")]
pub mod http_and_deployment {}
#[cfg(feature = "http")]
#[doc = include_str!("middleware.md")]
pub mod middleware {}
#[doc = include_str!("migrating_from_rmcp.md")]
pub mod migrating_from_rmcp {}
#[cfg(feature = "skills")]
#[doc = include_str!("skills.md")]
pub mod skills {}
#[doc = include_str!("tasks.md")]
pub mod tasks {}

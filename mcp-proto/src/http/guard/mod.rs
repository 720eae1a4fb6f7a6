//! A guard in front of an MCP server: finds tokens, judges them, and writes challenges.
//!
//! The guard is the resource server side of [authorization]. Verifying tokens, which takes keys or
//! a network, is up to the driver.
//!
//! [authorization]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization

mod builder;
mod challenge;
mod config;
mod decisions;
mod identifier;
mod insufficient_scope;
mod metadata;
mod scopes;
mod token;

pub use self::builder::{GuardBuilder, InvalidGuard};
pub use self::decisions::Guard;
pub use self::insufficient_scope::InsufficientScope;
pub use self::token::{AcceptedToken, InvalidClaims, TokenExpiry, VerifiedToken};

#[cfg(test)]
mod tests;

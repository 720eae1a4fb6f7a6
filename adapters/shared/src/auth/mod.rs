//! Authorization of clients: how they log in, and what that needs of the system. For servers, the
//! keys of authorization servers, and what these say about tokens.
//!
//! A login reads from `builder` (what is configured) over `session` and `membership` (the part of
//! a connection) to `driver`, which performs what the machine of the core asks for, with `login`,
//! `browser`, `redirect_listener`, `store` and `oauth_http`. On servers, `jwt` verifies tokens.
//! `extensions` and `introspection` have what few programs use: nothing above depends on how they
//! work.

mod browser;
mod builder;
mod configured_uri;
mod driver;
mod extensions;
mod introspection;
mod jwt;
mod log_out;
mod login;
mod membership;
mod oauth_http;
mod redirect_listener;
mod session;
mod store;
mod system;

pub use browser::Browser;
pub use builder::Auth;
pub use extensions::{SIGNATURE_BYTES, SigningKey};
pub use introspection::IntrospectionVerifier;
pub use jwt::JwtVerifier;
pub use log_out::log_out;
pub use login::Login;
pub use mcp_proto::auth::{
    AuthEvent, IdentityProvider, KnownClient, LoopbackHost, Quirks, Redirect,
};
pub use oauth_http::{OAuthFailure, OAuthHttp, OAuthRequest, OAuthResponse};
pub use redirect_listener::RedirectListener;
pub use store::KeyringError;
pub use store::{FileStore, LockedRecord, MemoryStore, RECORD_BYTES_MAX, SealedStore, Store};
pub use system::{random_bytes, unix_time};

//! Authorization of clients: how they log in, and what that needs of the system. For servers, the
//! keys of authorization servers, and what these say about tokens.

mod browser;
mod builder;
mod configured_uri;
mod dpop;
mod driver;
mod introspection;
mod issuer_keys;
mod jwt;
mod log_out;
mod login;
mod membership;
mod oauth_http;
mod redirect_listener;
mod session;
mod signing_key;
mod store;
mod system;

pub use browser::Browser;
pub use builder::Auth;
pub use introspection::IntrospectionVerifier;
pub use jwt::JwtVerifier;
pub use log_out::log_out;
pub use login::Login;
pub use mcp_proto::auth::{
    AuthEvent, IdentityProvider, KnownClient, LoopbackHost, Quirks, Redirect,
};
pub use oauth_http::{OAuthFailure, OAuthHttp, OAuthRequest, OAuthResponse};
pub use redirect_listener::RedirectListener;
pub use signing_key::{SIGNATURE_BYTES, SigningKey};
pub use store::KeyringError;
pub use store::{FileStore, LockedRecord, MemoryStore, RECORD_BYTES_MAX, SealedStore, Store};
pub use system::{random_bytes, unix_time};

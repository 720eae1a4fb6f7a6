//! Authorization of clients (OAuth 2.1) (feature `auth`): how they log in, and where tokens are
//! kept.

pub use mcp_adapter::auth::KeyringError;
pub use mcp_adapter::auth::{
    Auth, AuthEvent, Browser, FileStore, IdentityProvider, KnownClient, LockedRecord, Login,
    LoopbackHost, MemoryStore, Quirks, RECORD_BYTES_MAX, Redirect, SealedStore, SigningKey, Store,
    log_out,
};

//! The items that programs use, which each adapter re-exports.

pub use mcp_proto as proto;

pub use crate::apps;
pub use crate::box_future::BoxFuture;
pub use crate::client::answerer::Answerer;
pub use crate::client::call::{Call, Pending};
pub use crate::client::call_hooks::{CallEnd, OutgoingCall};
pub use crate::client::changed::Changed;
pub use crate::client::connection::Connection;
pub use crate::client::context::{ClientCx, ClientSleep};
pub use crate::client::extension_settings::ClientExtension;
pub use crate::client::progress::ProgressUpdates;
pub use crate::client::recovery::Recovery;
pub use crate::client::recovery::state::ConnectionState;
pub use crate::client::subscription::Subscription;
pub use crate::client::task::call::TaskCall;
pub use crate::client::task::handle::TaskHandle;
pub use crate::client::task::settings::ClientTasks;
pub use crate::error::{Error, ListError};
pub use crate::exec::operation::Operation;
pub use crate::on_runtime;
pub use crate::process::program_lookup::find_program;
pub use crate::process::settings::StdioSettings;
#[cfg(feature = "tracing")]
pub use crate::recorder::private_file;
pub use crate::server::catalog::catalog_edit::{CatalogEdit, EditError, Entry};
pub use crate::server::catalog::changes::Changes;
pub use crate::server::catalog::entries::prompt::Prompt;
pub use crate::server::catalog::entries::resource::Resource;
pub use crate::server::catalog::entries::template::Template;
pub use crate::server::catalog::entries::tool::Tool;
pub use crate::server::connection::subscriptions::{SubscriptionChange, SubscriptionSettings};
pub use crate::server::handler::asking::FormAnswer;
pub use crate::server::handler::client_handle::ClientHandle;
pub use crate::server::handler::context::Cx;
pub use crate::server::handler::from_request::{FromLayer, FromRequest};
pub use crate::server::handler::function::Handler;
pub use crate::server::handler::handler_error::HandlerError;
pub use crate::server::handler::into_output::{IntoOutput, Json};
pub use crate::server::handler::kind;
pub use crate::server::handler::list_handler::Page;
pub use crate::server::handler::once::OnceResult;
pub use crate::server::handler::operation::{SendLog, Sleep};
pub use crate::server::handler::state::State;
pub use crate::server::layers;
pub use crate::server::manual::ManualServer;
pub use crate::server::settings::additions::Addition;
pub use crate::server::settings::extension_settings::MethodHandler;
pub use crate::server::settings::handlers::Handlers;
pub use crate::server::settings::lists::Lists;
pub use crate::server::settings::unregistered_settings::Unregistered;
pub use crate::server::tasks::client_task::ClientTask;
#[cfg(feature = "skills")]
pub use crate::skills;
pub use crate::stdio::spawn::ServerProcess;
pub use crate::tasks;
#[doc(inline)]
pub use crate::tasks::TaskUpdate;
#[cfg(feature = "jsonschema")]
pub use crate::validation::CheckError;

/// Authorization of clients (OAuth 2.1): how they log in, and where tokens are kept.
/// (feature `auth`)
#[cfg(feature = "auth")]
pub mod auth {
    #[cfg(feature = "auth")]
    pub use crate::auth::KeyringError;
    pub use crate::auth::{
        Auth, AuthEvent, Browser, FileStore, IdentityProvider, KnownClient, LockedRecord, Login,
        LoopbackHost, MemoryStore, Quirks, RECORD_BYTES_MAX, Redirect, SealedStore, SigningKey,
        Store, log_out,
    };
}

/// Streamable HTTP: servers that listen or are services of a router, and clients. (feature `http`)
///
/// # HTTP/2 and Unix sockets
///
/// With the feature `tls`, a listening server also speaks HTTP/2 with prior knowledge (h2c), which
/// proxies that terminate TLS can use. Both versions share the port: the first bytes of a
/// connection decide. `Upgrade: h2c` is not supported. All limits and timeouts of
/// [`Http`](self::http::Http) apply to both, and these to HTTP/2 only:
///
/// | limit | value |
/// |---|---|
/// | concurrent requests on a connection | 100 (`HttpLimits::http2_streams_max`), then reset |
/// | requests in flight in total | all but one of a connection count like connections |
/// | headers of a request | 64 KiB, then status 431 |
/// | body bytes that were sent and not yet read | 64 KiB a stream, 256 KiB a connection |
/// | response bytes that wait in the connection | 64 KiB a stream, and a piece of 16 KiB |
/// | resets before a request was accepted | 20, then the connection is closed |
/// | streams that the server resets for errors of clients | 256, then the connection is closed |
///
/// A head that is incomplete for [`HttpLimits::head_timeout`](self::http::HttpLimits::head_timeout)
/// closes the connection, because nothing can follow it. A response that its client does not read
/// for `Limits::stall_timeout` is reset, and the connection continues. An idle connection is closed
/// with `GOAWAY`, as are all when the server stops. A connection costs up to 0.9 MiB beside its
/// requests.
///
/// On Unix, the listener of `serve_http` can be that of a Unix socket.
#[cfg(feature = "http")]
pub mod http {
    #[cfg(feature = "auth")]
    pub use crate::auth::{IntrospectionVerifier, JwtVerifier};
    #[cfg(feature = "tls")]
    pub use crate::http::ClientIdentity;
    pub use crate::http::{
        AuthChallenge, BlockingClient, FixedTokens, Guard, Http, HttpFailure, HttpLimits, HttpSend,
        HttpService, HttpStats, PeerAddress, Principal, Proxy, ProxyError, ReceivedBody, Refusal,
        Remote, RequestHead, ResponseBody, SendError, SessionControl, Stop, TokenVerifier,
        VerifyError,
    };
}

//! What programs use, which each adapter re-exports.

pub use mcp_proto as proto;

pub use crate::apps;
pub use crate::box_future::BoxFuture;
pub use crate::client::Client;
pub use crate::client::answerer::Answerer;
pub use crate::client::call::{Call, Pending};
pub use crate::client::call_hooks::{CallEnd, OutgoingCall};
pub use crate::client::changed::Changed;
pub use crate::client::connection::Connection;
pub use crate::client::context::{ClientCx, ClientSleep};
pub use crate::client::progress::ProgressUpdates;
pub use crate::client::subscription::Subscription;
pub use crate::client::task::call::TaskCall;
pub use crate::client::task::handle::TaskHandle;
pub use crate::error::{Error, ListError};
pub use crate::process::program_lookup::find_program;
pub use crate::recorder::private_file;
pub use crate::server::catalog_edit::{CatalogEdit, EditError, Entry};
pub use crate::server::changes::Changes;
pub use crate::server::client_handle::ClientHandle;
pub use crate::server::client_task::ClientTask;
pub use crate::server::entries::prompt::Prompt;
pub use crate::server::entries::resource::Resource;
pub use crate::server::entries::template::Template;
pub use crate::server::entries::tool::Tool;
pub use crate::server::extension_settings::MethodHandler;
pub use crate::server::handler::asking::FormAnswer;
pub use crate::server::handler::context::Cx;
pub use crate::server::handler::from_request::{FromLayer, FromRequest};
pub use crate::server::handler::function::Handler;
pub use crate::server::handler::handler_error::HandlerError;
pub use crate::server::handler::into_output::{IntoOutput, Json};
pub use crate::server::handler::kind;
pub use crate::server::handler::once::OnceResult;
pub use crate::server::handler::operation::{Operation, SendLog, Sleep};
pub use crate::server::handler::state::State;
pub use crate::server::handlers::Handlers;
pub use crate::server::list_handler::Page;
pub use crate::server::manual::ManualServer;
pub use crate::server::subscriptions::{SubscriptionChange, SubscriptionCx};
pub use crate::server::visibility::CallerCx;
pub use crate::server::{Server, layers};
#[cfg(feature = "skills")]
pub use crate::skills;
pub use crate::tasks;
#[doc(inline)]
pub use crate::tasks::TaskUpdate;
#[cfg(feature = "jsonschema")]
pub use crate::validation::CheckError;

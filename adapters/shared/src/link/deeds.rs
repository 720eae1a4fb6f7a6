//! What the application does to a session, whatever carries it; knows nothing of why.

use mcp_proto::client::Client;
use mcp_proto::schema::{Encode, Level};
use mcp_proto::server::Server;
use mcp_proto::{
    CallId, CallOptions, Change, ErrorObject, Filter, IncomingId, Instant, Misuse, Progress, Question, Raw,
};

use super::Carrier;

/// Methods of the machine, and of what records it.
macro_rules! deeds {
    ($role:ty: $($name:ident($($argument:ident: $type:ty),*) $(-> $done:ty)?;)+) => {
        impl Carrier<$role> {
            $(
                pub(crate) fn $name(&mut self, now: Instant, $($argument: $type),*) $(-> $done)? {
                    match self {
                        Self::Bytes(stream) => <$role>::$name(stream, now, $($argument),*),
                        #[cfg(feature = "http")]
                        Self::Http(http) => <$role>::$name(http, now, $($argument),*),
                        #[cfg(feature = "record")]
                        Self::Recorded(recorded) => recorded.$name(now, $($argument),*),
                    }
                }
            )+
        }
    };
}

deeds! {
    Server:
    changed(change: Change<'_>) -> Result<(), Misuse>;
    close();
    hang_up(incoming: IncomingId) -> Result<(), Misuse>;
    log(
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw
    ) -> Result<(), Misuse>;
    progress(incoming: IncomingId, progress: &Progress) -> Result<(), Misuse>;
    refuse_undeclared(incoming: IncomingId, questions: &[(&str, Question)]) -> Result<(), Misuse>;
    request_input(
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>
    ) -> Result<(), Misuse>;
    respond(incoming: IncomingId, result: &dyn Encode) -> Result<(), Misuse>;
    respond_error(incoming: IncomingId, error: &ErrorObject) -> Result<(), Misuse>;
}

deeds! {
    Client:
    call_raw(method: &str, params: Option<&dyn Encode>, options: CallOptions) -> Result<CallId, Misuse>;
    cancel(call: CallId, reason: &str) -> Result<(), Misuse>;
    close();
    listen(filter: &Filter, options: CallOptions) -> Result<CallId, Misuse>;
    notify_raw(method: &str, params: Option<&dyn Encode>) -> Result<(), Misuse>;
    respond(incoming: IncomingId, result: &dyn Encode) -> Result<(), Misuse>;
    respond_error(incoming: IncomingId, error: &ErrorObject) -> Result<(), Misuse>;
    set_log_level(level: Level, options: CallOptions) -> Result<CallId, Misuse>;
}

//! A call on its way to a link: its hooks, its credentials and its message.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::Encode;
use mcp_proto::{CallError, CallOptions, Instant, MessageEndpoint as _, Payload};

use crate::client::call_hooks::{Hooked, WithMeta, before_call};
use crate::client::in_flight::InFlight;
use crate::client::questions::Answering;
use crate::client::task::mailbox::Mailbox;
use crate::error::Error;
use crate::tasks::WithTask;
use crate::transport::link::Link;

/// A call that has not been sent.
pub(crate) struct UnsentCall<'c> {
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: WithTask<Box<dyn Encode + Send + 'c>>,
    pub(crate) options: CallOptions,
    /// Receives the progress of the task that the call asks for.
    pub(crate) mailbox: Option<Arc<Mailbox>>,
    pub(crate) answering: Answering,
}

impl UnsentCall<'_> {
    /// Sends the call on `link`.
    // By `&mut`, because the params are not `Sync`.
    pub(crate) async fn send(
        &mut self,
        link: &Arc<Link<Machine>>,
        patience: Duration,
    ) -> Result<InFlight, Error> {
        let Self { method, params, options, mailbox, answering } = self;
        let revision = || link.inspect(|state| state.role.peer.as_ref().map(|peer| peer.revision));
        let hooked = before_call(&link.shared.on_call, method, params, revision);
        let Hooked { meta, after } = hooked.map_err(Error::Hook)?;
        let owner = link.inspect(|state| state.role.cache_owner.as_ref()?.upgrade());
        let note_owner = match owner {
            None => None,
            Some(owner) => {
                let deadline = unsent_deadline(link, options);
                let Some(note) = owner.before_call(link, method, deadline).await else {
                    if let Some(mut after) = after {
                        after.completed(&Err(CallError::TimedOut));
                    }
                    return Err(CallError::TimedOut.into());
                };
                Some(note)
            }
        };
        let answering = answering.clone().of_method(method);
        InFlight::start(link, patience, after, answering, move |state, now| {
            if let Some(note_owner) = &note_owner {
                note_owner(state);
            }
            let params = WithMeta { params: &*params, meta: &meta };
            let (params, options) = (Payload::Value(&params), options.clone());
            let call = state.connection.call(now, Command::Call { method, params, options })?;
            if let Some(mailbox) = mailbox {
                state.role.insert_task_call(call, mailbox);
            }
            Ok(call)
        })
        .await
    }
}

/// Returns when the call ends at the latest if it is not sent.
fn unsent_deadline(link: &Link<Machine>, options: &CallOptions) -> Instant {
    let timeout = options.timeout.unwrap_or_else(|| {
        link.inspect(|state| {
            let limits = state.connection.limits();
            limits.call_timeout.min(limits.call_timeout_max)
        })
    });
    link.clock.now() + options.timeout_max.map_or(timeout, |max| max.min(timeout))
}

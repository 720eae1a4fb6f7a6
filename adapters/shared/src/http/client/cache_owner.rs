//! Decides whose results a call may take from the cache, if a function of the application returns
//! the credentials.

use std::sync::Arc;

use futures_lite::future::or;
use mcp_proto::Instant;
use mcp_proto::client::{Client as Machine, ExchangeEndpoint as _};

use super::authorization::LATE;
use super::authorize::{ask, note};
use super::connections::HttpConnections;
use super::remote::Authorize;
use crate::box_future::BoxFuture;
use crate::client::cache_owner::{CacheOwner, NoteOwner};
use crate::transport::link::Link;

impl HttpConnections {
    /// Returns whether a function of the application returns the credentials of requests.
    pub(super) const fn is_asked(&self) -> bool {
        match &self.remote.authorize {
            Some(Authorize::Async(_) | Authorize::Blocking(_)) => true,
            Some(Authorize::Session(_)) | None => false,
        }
    }
}

impl CacheOwner for HttpConnections {
    // The function of the application may block forever, and the call has no timer yet.
    fn before_call<'c>(
        &'c self,
        link: &'c Arc<Link<Machine>>,
        method: &'c str,
        deadline: Instant,
    ) -> BoxFuture<'c, Option<NoteOwner>> {
        Box::pin(async move {
            let asked = async {
                let is_cacheable = Machine::is_cacheable(method);
                Some(if is_cacheable { ask(link, self).await } else { None })
            };
            let ended = async {
                or(link.closed(), link.sleep_until(deadline)).await;
                // The sleep also ends with the connection.
                (!link.clock.until(deadline).is_zero()).then_some(Some(Err(LATE)))
            };
            let field = or(asked, ended).await?;
            Some(Box::new(move |state: &mut _| {
                if let Some(field) = &field {
                    note(state, field);
                }
            }) as NoteOwner)
        })
    }
}

//! Reads posted messages, within the limits on their size and duration.

use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_lite::future::{or, poll_once};
use mcp_proto::Principal;
use mcp_proto::http::{PostHead, Refusal, Reply};

use super::open::Posted;
use super::shared::ServiceShared;
use crate::http::server::body::Exchange;
use crate::http::server::body_buffer::BodyBuffer;
use crate::http::server::budget::{AddressShare, ByteLease};
use crate::http::server::request_head::RequestHead;

/// A posted message that was received.
pub(super) enum Received {
    /// Its connection has the message.
    Exchange(Exchange),
    /// It needs no connection.
    Answered(Reply),
}

impl ServiceShared {
    /// Reads a posted message and passes it to its connection.
    pub(super) async fn receive<B>(
        self: &Arc<Self>,
        head: &RequestHead,
        principal: Option<&Principal>,
        post: &PostHead,
        body: B,
    ) -> Result<Received, Refusal>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        // Counted until the connection has the message, which then counts it.
        let mut lease = ByteLease::new(&self.options.counters.requests_bytes);
        let mut share = self.address_share(head.peer_address());
        let body = self.read(body, &mut lease, &mut share).await?;
        let mut exchange = match self.post(head, principal, post, &body)? {
            Posted::Begun(exchange) => exchange,
            Posted::Answered(reply) => return Ok(Received::Answered(reply)),
            // Boxed: this is rare, and inline it would enlarge all requests.
            Posted::Blocked(blocked) => Box::pin(self.post_later(blocked, &body)).await?,
        };
        drop((body, lease));
        head.detach_if_kept();
        exchange.share = Some(share);
        Ok(Received::Exchange(exchange))
    }

    /// Refuses the request after the time that a body may take.
    async fn body_timeout(&self) -> Result<(), Refusal> {
        self.runtime.sleep(self.options.limits.body_timeout).await;
        Err(Refusal::new(408, "the body took too long to arrive"))
    }

    /// Reads a body, within the limits on its size and duration, and counts its bytes.
    pub(super) async fn read<B>(
        &self,
        body: B,
        lease: &mut ByteLease,
        share: &mut AddressShare,
    ) -> Result<Bytes, Refusal>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        let bytes_max = self.policy.body_bytes_max();
        let mut buffer = BodyBuffer::new(body.size_hint().exact());
        let mut body = pin!(body);
        {
            let mut read = pin!(async {
                while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
                    let frame = frame.map_err(|_| Refusal::new(400, "the body was cut off"))?;
                    let Ok(mut data) = frame.into_data() else { continue };
                    if buffer.len() + data.remaining() > bytes_max {
                        let why = "bytes, the limit of this server";
                        return Err(Refusal::new(
                            413,
                            format!("the body exceeds {bytes_max} {why}"),
                        ));
                    }
                    self.count(data.remaining(), lease, share)?;
                    buffer.push(data.copy_to_bytes(data.remaining()));
                }
                Ok(())
            });
            match poll_once(read.as_mut()).await {
                Some(read) => read?,
                // Boxed: most bodies are available after one poll, and inline the timer would
                // enlarge all requests.
                None => Box::pin(or(read, self.body_timeout())).await?,
            }
        }
        Ok(buffer.into_bytes())
    }
}

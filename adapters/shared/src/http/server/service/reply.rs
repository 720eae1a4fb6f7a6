//! Builds responses from replies and refusals.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use futures_lite::future::or;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use mcp_proto::http::{Body as ReplyBody, CrossOrigin, Reply};

use super::shared::ServiceShared;
use crate::http::server::body::{Exchange, ResponseBody};

impl ServiceShared {
    /// Waits for the reply of an exchange and returns it as a response.
    pub(super) async fn respond(self: &Arc<Self>, exchange: Exchange) -> Response<ResponseBody> {
        let source = exchange.source;
        let ready = exchange.link.lock().poll_reply(source);
        let reply = match ready {
            Some(reply) => reply,
            // Boxed: most replies are ready, and inline it would enlarge all requests.
            None => Box::pin(self.wait_for_reply(&exchange)).await,
        };
        self.reply(reply, Some(exchange))
    }

    /// Waits for the reply of an exchange, and runs the timers of a connection without a timer
    /// task.
    async fn wait_for_reply(&self, exchange: &Exchange) -> Reply {
        let (link, source) = (&exchange.link, exchange.source);
        let reply = link.when(|state| state.poll_reply(source));
        if !exchange.is_modern {
            return reply.await;
        }
        let timers = async {
            link.keep_time(|duration| self.runtime.sleep(duration)).await;
            std::future::pending().await
        };
        or(reply, timers).await
    }

    pub(super) fn reply(&self, reply: Reply, exchange: Option<Exchange>) -> Response<ResponseBody> {
        let Reply { status, headers: fields, body } = reply;
        let body = match (body, exchange) {
            (ReplyBody::Whole(bytes), exchange) => {
                let share = exchange.and_then(|mut exchange| {
                    exchange.link.trace.output(&bytes);
                    exchange.is_over = true;
                    exchange.share.take()
                });
                ResponseBody::counted(bytes, share)
            }
            (ReplyBody::Events, Some(exchange)) => ResponseBody::events(exchange, &self.runtime),
            (ReplyBody::Events, None) => ResponseBody::whole(Bytes::new()),
        };
        response(status, fields, body)
    }
}

pub(super) fn response(
    status: u16,
    fields: Vec<(&'static str, Cow<'static, str>)>,
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    add(&mut response, fields);
    response
}

/// Lets a page of an allowed origin read a response, unless the response itself says who may read
/// it.
pub(super) fn share(response: &mut Response<ResponseBody>, page: &CrossOrigin) {
    if page.has_headers() && !response.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
        add(response, page.headers());
    }
}

fn add(
    response: &mut Response<ResponseBody>,
    fields: impl IntoIterator<Item = (&'static str, Cow<'static, str>)>,
) {
    for (name, value) in fields {
        let value = match value {
            Cow::Borrowed(value) => Bytes::from_static(value.as_bytes()),
            Cow::Owned(value) => Bytes::from(value),
        };
        if let Ok(value) = HeaderValue::from_maybe_shared(value) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
}

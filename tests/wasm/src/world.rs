//! What a row runs in: a platform, a way to the server, and a revision.

use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use mcp_wasm::http::{FetchBody, FetchReply, WebBody, WebFetch, WebRequest, WebService, connect};
use mcp_wasm::proto::http::client::{ExchangeFailure, HttpRequest};
use mcp_wasm::proto::{Capability, Raw, Revision};
use mcp_wasm::{Client, Connection, Error, LocalBoxFuture, Platform, memory};

use crate::shop::{json, shop};

/// The way to the server.
#[derive(Clone, Debug)]
pub enum Route {
    /// In memory, as lines.
    Memory,
    /// Over HTTP, by calls of the service within the process.
    Service,
    /// Over HTTP, through the network.
    #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
    Remote(String),
}

/// What a row runs in.
#[derive(Clone)]
pub struct World {
    /// The host of the client.
    pub platform: Rc<dyn Platform>,
    /// The way to the server.
    pub route: Route,
    /// The revision of the client.
    pub revision: Revision,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// The failure of a row.
pub type Outcome = Result<(), String>;

impl World {
    /// Returns a client that answers questions.
    pub fn client(&self) -> Client {
        Client::new("rows", "1.0.0").revisions(&[self.revision]).on_request(
            Capability::ElicitationForm,
            "elicitation/create",
            |params| {
                let asked = crate::shop::text(&params, "message").unwrap_or_default();
                let value = if asked.contains("colour") { "green" } else { "Ada" };
                let answer = format!(r#"{{"action":"accept","content":{{"value":"{value}"}}}}"#);
                ready(Ok::<Raw, _>(json(&answer)))
            },
        )
    }

    /// Connects a client to a server.
    ///
    /// # Errors
    /// Fails if the connection cannot be opened.
    pub async fn connect(&self, client: Client) -> Result<Connection, Error> {
        match &self.route {
            Route::Memory => memory::connect(&shop(), client, &self.platform).await,
            Route::Service => {
                let service = WebService::new(&shop(), &self.platform)?;
                connect(client, Rc::new(InProcess(service)), &self.platform).await
            }
            #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
            Route::Remote(url) => {
                mcp_wasm::js::connect_http(client, mcp_wasm::js::JsRemote::new(url)).await
            }
        }
    }

    /// Connects the client of [`client`](Self::client).
    ///
    /// # Errors
    /// Fails, with the reason, if the connection cannot be opened.
    pub async fn open(&self) -> Result<Connection, String> {
        self.connect(self.client()).await.map_err(|error| error.to_string())
    }

    /// Returns a key that no other row uses.
    ///
    /// # Errors
    /// Fails if the platform has no random bytes.
    pub fn key(&self) -> Result<String, String> {
        let mut bits = [0; 8];
        self.platform.fill_random(&mut bits).map_err(|error| error.to_string())?;
        Ok(format!("{:x}", u64::from_le_bytes(bits)))
    }

    /// Runs `row`, for at most 20 s.
    ///
    /// # Errors
    /// Fails as the row does, or if it takes too long.
    pub async fn run(&self, row: LocalBoxFuture<'static, Outcome>) -> Outcome {
        let mut row = pin!(row);
        let mut late = self.platform.sleep(Duration::from_secs(20));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = row.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            late.as_mut().poll(cx).map(|()| Err("took more than 20 s".to_owned()))
        })
        .await
    }
}

/// An HTTP client that calls a service of its own process.
struct InProcess(WebService);

impl WebFetch for InProcess {
    fn fetch(
        &self,
        request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<FetchReply, ExchangeFailure>> {
        let service = self.0.clone();
        let mut headers: Vec<(String, String)> = vec![("host".into(), "localhost".into())];
        headers
            .extend(request.headers.iter().map(|(name, value)| (name.to_string(), value.clone())));
        let head = WebRequest { method: request.method.name().into(), headers };
        Box::pin(async move {
            let reply = service.handle(&head, ready(Some(request.body.to_vec()))).await;
            let headers = reply.headers.into_iter().map(|(name, value)| (name.to_owned(), value));
            let headers = headers.collect();
            Ok(FetchReply { status: reply.status, headers, body: Box::new(Passed(reply.body)) })
        })
    }
}

/// The body of a response of the service.
struct Passed(WebBody);

impl FetchBody for Passed {
    fn next(&mut self) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, ExchangeFailure>> {
        Box::pin(async move {
            Ok(match &mut self.0 {
                WebBody::Whole(bytes) if bytes.is_empty() => None,
                WebBody::Whole(bytes) => Some(std::mem::take(bytes).to_vec()),
                WebBody::Events(events) => events.next().await.map(|bytes| bytes.to_vec()),
            })
        })
    }
}

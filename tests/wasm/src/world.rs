//! What a row runs in: a way to the server, and a revision.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use mcp_wasm::http::{Http, HttpSend, HttpService, ReceivedBody, Remote};
use mcp_wasm::proto::Revision;
use mcp_wasm::proto::schema::{Elicit, ElicitResult};
use mcp_wasm::{Client, Connection, Error, sleep, testing};
use web_time::{SystemTime, UNIX_EPOCH};

use crate::shop::{json, shop};

/// A future that stays on its thread.
pub type LocalBoxFuture<T> = Pin<Box<dyn Future<Output = T>>>;

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
        self.client_that_answers_nothing().on_elicitation(|asked: Elicit| {
            let value = if asked.message.contains("colour") { "green" } else { "Ada" };
            ElicitResult::accept(json(&format!(r#"{{"value":"{value}"}}"#)))
        })
    }

    /// Returns a client without handlers.
    pub fn client_that_answers_nothing(&self) -> Client {
        Client::new("rows", "1.0.0").revisions(&[self.revision])
    }

    /// Connects a client to a server.
    ///
    /// # Errors
    /// Fails if the connection cannot be opened.
    pub async fn connect(&self, client: Client) -> Result<Connection, Error> {
        match &self.route {
            Route::Memory => testing::connect(&shop(), client).await,
            Route::Service => {
                let service = HttpService::new(&shop(), Http::new())?;
                let remote = Remote::with_client("http://localhost/mcp", in_process(service))?;
                client.connect_http(remote).await
            }
            #[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
            Route::Remote(url) => client.connect_http(Remote::new(url)?).await,
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
    #[must_use]
    pub fn key(&self) -> String {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        format!("{:x}-{:x}", since.as_nanos(), KEYS.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs `row`, for at most 20 s.
    ///
    /// # Errors
    /// Fails as the row does, or if it takes too long.
    pub async fn run(&self, row: LocalBoxFuture<Outcome>) -> Outcome {
        let mut row = pin!(row);
        let mut late = pin!(sleep(Duration::from_secs(20)));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = row.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            late.as_mut().poll(cx).map(|()| Err("took more than 20 s".to_owned()))
        })
        .await
    }
}

/// Returns an HTTP client that calls a service of its own process.
fn in_process(service: HttpService) -> impl HttpSend {
    move |request: Request<Bytes>| {
        let body = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
        let responded = service.respond(request.map(body));
        async move { Ok(responded.await.map(ReceivedBody::new)) }
    }
}

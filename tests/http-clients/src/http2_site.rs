//! A scripted server that speaks HTTP/2.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_rustls::TlsAcceptor;
use futures_rustls::rustls::ServerConfig;
use http::Response;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use mcp_adapter::http::{ByteStream, HyperStream, Remote};
use serde_json::Value;
use smol::{Async, Task};

use crate::request::Request;

/// What a server does with a request.
#[derive(Debug)]
pub enum Played {
    /// Sends a JSON message.
    Json(Value),
    /// Sends a JSON message, and accepts no more requests over the connection.
    LastJson(Value),
    /// Sends text of an event stream, which then continues without end.
    Stream(String),
    /// Resets the stream for this reason.
    Reset(h2::Reason),
}

type Play = dyn Fn(&Request) -> Played + Send + Sync;

/// A server. Dropping it closes all its connections.
#[derive(Debug)]
pub struct Http2Site {
    address: SocketAddr,
    inner: Arc<Inner>,
    _accepting: Task<()>,
}

#[derive(Debug, Default)]
struct Inner {
    heard: Mutex<Vec<Request>>,
    accepted: AtomicUsize,
    streams: AtomicUsize,
}

impl Http2Site {
    /// Starts a server that allows this number of streams.
    pub fn new(
        streams_max: u32,
        play: impl Fn(&Request) -> Played + Send + Sync + 'static,
    ) -> Self {
        Self::start(streams_max, None, Arc::new(play))
    }

    /// Starts a server with TLS.
    pub fn secure(
        config: Arc<ServerConfig>,
        play: impl Fn(&Request) -> Played + Send + Sync + 'static,
    ) -> Self {
        Self::start(100, Some(config), Arc::new(play))
    }

    fn start(streams_max: u32, tls: Option<Arc<ServerConfig>>, play: Arc<Play>) -> Self {
        let listener = Async::<TcpListener>::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.get_ref().local_addr().unwrap();
        let inner = Arc::new(Inner::default());
        let shared = Arc::clone(&inner);
        let accepting = smol::spawn(async move {
            // Dropped, and so cancelled, with this task.
            let mut connections = Vec::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let connection = shared.accepted.fetch_add(1, Ordering::SeqCst);
                let (inner, play, tls) = (Arc::clone(&shared), Arc::clone(&play), tls.clone());
                connections.push(smol::spawn(async move {
                    let Some(stream) = accept(socket, tls).await else { return };
                    serve(inner, connection, stream, streams_max, play).await;
                }));
            }
        });
        Self { address, inner, _accepting: accepting }
    }

    /// Returns the URL of this scheme.
    pub fn remote(&self, scheme: &str) -> Remote {
        Remote::new(&format!("{scheme}://localhost:{}/mcp", self.address.port())).unwrap()
    }

    /// Returns all requests so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Request> {
        self.inner.heard.lock().unwrap().clone()
    }

    /// Returns the number of connections so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.inner.accepted.load(Ordering::SeqCst)
    }

    /// Returns the number of event streams that clients read.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.inner.streams.load(Ordering::SeqCst)
    }
}

async fn accept(
    socket: Async<TcpStream>,
    tls: Option<Arc<ServerConfig>>,
) -> Option<Box<dyn ByteStream>> {
    match tls {
        Some(config) => Some(Box::new(TlsAcceptor::from(config).accept(socket).await.ok()?)),
        None => Some(Box::new(socket)),
    }
}

async fn serve(
    inner: Arc<Inner>,
    connection: usize,
    stream: Box<dyn ByteStream>,
    streams_max: u32,
    play: Arc<Play>,
) {
    let is_last = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_last);
    let service = service_fn(move |request| {
        let (inner, play, ends) = (Arc::clone(&inner), Arc::clone(&play), Arc::clone(&ends));
        async move {
            let request = inner.read(connection, request).await;
            let response = |kind, body| {
                Ok(Response::builder().header("content-type", kind).body(body).unwrap())
            };
            let whole = |message: Value| {
                response("application/json", PlayedBody(Some(message.to_string().into()), None))
            };
            match play(&request) {
                Played::Json(message) => whole(message),
                Played::LastJson(message) => {
                    ends.store(true, Ordering::SeqCst);
                    whole(message)
                }
                Played::Stream(text) => {
                    inner.streams.fetch_add(1, Ordering::SeqCst);
                    let counted = Some(Counted(Arc::clone(&inner)));
                    response("text/event-stream", PlayedBody(Some(text.into()), counted))
                }
                Played::Reset(reason) => Err(h2::Error::from(reason)),
            }
        }
    });
    let mut builder = Builder::new(SmolExecutor);
    builder.max_concurrent_streams(streams_max);
    let mut served = pin!(builder.serve_connection(HyperStream(stream), service));
    let mut is_ending = false;
    poll_fn(|context| {
        loop {
            let polled = served.as_mut().poll(context);
            if polled.is_ready() || is_ending || !is_last.load(Ordering::SeqCst) {
                return polled.map(drop);
            }
            is_ending = true;
            served.as_mut().graceful_shutdown();
        }
    })
    .await;
}

impl Inner {
    async fn read(&self, connection: usize, request: http::Request<Incoming>) -> Request {
        let (head, body) = request.into_parts();
        let mut body = pin!(body);
        let mut bytes = Vec::new();
        while let Some(Ok(frame)) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            bytes.extend(frame.into_data().unwrap_or_default());
        }
        let fields = head.headers.iter();
        let fields = fields.map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let mut heard = self.heard.lock().unwrap();
        let request = Request {
            nth: heard.len(),
            connection,
            verb: head.method.to_string(),
            path: head.uri.to_string(),
            fields: fields.collect(),
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
        };
        heard.push(request.clone());
        request
    }
}

/// A body: its text, and what counts it if it never ends.
struct PlayedBody(Option<Bytes>, Option<Counted>);

impl Body for PlayedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            None if self.1.is_some() => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

struct Counted(Arc<Inner>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct SmolExecutor;

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for SmolExecutor {
    fn execute(&self, future: F) {
        smol::spawn(future).detach();
    }
}

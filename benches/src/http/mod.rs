//! The HTTP servers that are compared: a bare one, ours, the official SDK's.

mod bare;
mod ours;
mod theirs;

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

pub use ours::echo;
pub use theirs::Answers;

/// A server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `hyper` with an echo handler.
    Bare,
    /// The bare server over HTTP/2.
    #[cfg(feature = "http2")]
    BareHttp2,
    /// `mcp-tokio` with its own listener.
    Tokio,
    /// `mcp-tokio` as a service, on the accept loop of the bare server and the official SDK.
    Service,
    /// `mcp-tokio`, with handlers that are futures.
    TokioFuture,
    /// `mcp-smol`.
    Smol,
    /// `mcp-smol`, with handlers that are futures.
    SmolFuture,
    /// `mcp-blocking`.
    Blocking,
    /// The official SDK with its defaults: legacy clients have sessions, every response is an event
    /// stream.
    Rmcp,
    /// The official SDK without sessions, which responds with JSON where possible.
    RmcpJson,
}

impl Kind {
    /// All servers.
    pub const ALL: &[Self] = &[
        Self::Bare,
        #[cfg(feature = "http2")]
        Self::BareHttp2,
        Self::Tokio,
        Self::Service,
        Self::TokioFuture,
        Self::Smol,
        Self::SmolFuture,
        Self::Blocking,
        Self::Rmcp,
        Self::RmcpJson,
    ];

    /// Returns the name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            #[cfg(feature = "http2")]
            Self::BareHttp2 => "bare-http2",
            Self::Tokio => "tokio",
            Self::Service => "service",
            Self::TokioFuture => "tokio-future",
            Self::Smol => "smol",
            Self::SmolFuture => "smol-future",
            Self::Blocking => "blocking",
            Self::Rmcp => "rmcp",
            Self::RmcpJson => "rmcp-json",
        }
    }

    /// Serves as long as the process lives. With `delays`, sockets delay small packets (Nagle),
    /// where that is configurable.
    ///
    /// # Errors
    ///
    /// If listening fails.
    pub fn serve(self, listener: TcpListener, delays: bool) -> std::io::Result<()> {
        match self {
            Self::Smol => return ours::on_smol(listener, &ours::echo()?),
            Self::SmolFuture => return ours::on_smol(listener, &ours::echo_futures()?),
            Self::Blocking => return ours::on_threads(listener),
            _ => {}
        }
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(self.serve_on_tokio(listener, delays))
    }

    /// Like [`serve`](Self::serve), for servers on tokio.
    ///
    /// # Errors
    ///
    /// If listening fails, or the server does not run on tokio.
    pub async fn serve_on_tokio(self, listener: TcpListener, delays: bool) -> std::io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        match self {
            Self::Bare => on_hyper(listener, delays, bare::answer).await,
            #[cfg(feature = "http2")]
            Self::BareHttp2 => on_hyper_http2(listener).await,
            Self::Tokio => ours::on_tokio(listener, &ours::echo()?).await,
            Self::TokioFuture => ours::on_tokio(listener, &ours::echo_futures()?).await,
            Self::Service => {
                let service = ours::service()?;
                on_hyper(listener, delays, move |request| {
                    let service = service.clone();
                    async move { service.respond(request).await }
                })
                .await
            }
            Self::Rmcp | Self::RmcpJson => {
                let service = theirs::service(self == Self::RmcpJson);
                on_hyper(listener, delays, move |request| {
                    let service = service.clone();
                    async move { service.handle(request).await }
                })
                .await
            }
            Self::Smol | Self::SmolFuture | Self::Blocking => {
                Err(std::io::Error::other("it does not run on tokio"))
            }
        }
    }
}

/// Answers each request on each connection.
async fn on_hyper<F, B>(
    listener: tokio::net::TcpListener,
    delays: bool,
    answer: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
) -> std::io::Result<()>
where
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(!delays)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            let _ended =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Answers each request on each connection of HTTP/2.
#[cfg(feature = "http2")]
async fn on_hyper_http2(listener: tokio::net::TcpListener) -> std::io::Result<()> {
    use hyper::server::conn::http2;
    use hyper_util::rt::TokioExecutor;

    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service =
                service_fn(async |request| Ok::<_, Infallible>(bare::answer(request).await));
            let _ended = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Runs the server with this name: prints its port, and serves until stdin ends.
///
/// # Errors
///
/// If no server has this name, or listening fails.
pub fn run_server(name: &str, delays: bool) -> std::io::Result<()> {
    let kind = Kind::ALL
        .iter()
        .find(|kind| kind.name() == name)
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", listener.local_addr()?.port())?;
    stdout.flush()?;
    std::thread::spawn(|| {
        let _ended = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    kind.serve(listener, delays)
}

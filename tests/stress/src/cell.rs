//! What is run: a runtime with a transport, and how clients connect there.

use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_adapter::http::{Http, Remote};
use mcp_adapter::{Client, Connection, Error};
use mcp_adapter_tests::{Blocking, Smol, Tokio, TokioThreads};
use mcp_http_client_tests::OverHttp;
use mcp_http_tests::Served;

use crate::server::server;

/// A runtime with an HTTP server.
pub(crate) trait StressRuntime: OverHttp {
    fn serve_http() -> Served;

    /// Returns the number of tasks of the runtime; zero if the runtime does not count them.
    fn tasks() -> usize {
        0
    }
}

macro_rules! http {
    ($($runtime:ident => $tasks:expr),*) => {$(
        impl StressRuntime for $runtime {
            fn serve_http() -> Served {
                Served::on::<mcp_http_tests::$runtime>(server(), Http::new())
            }

            fn tasks() -> usize {
                $tasks
            }
        }
    )*};
}

http!(
    Blocking => 0,
    Smol => 0,
    Tokio => tokio::runtime::Handle::current().metrics().num_alive_tasks(),
    TokioThreads => tokio::runtime::Handle::current().metrics().num_alive_tasks()
);

/// How messages travel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Transport {
    Pipe,
    Child,
    Http,
}

impl Transport {
    pub(crate) const ALL: [Self; 3] = [Self::Pipe, Self::Child, Self::Http];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Child => "child",
            Self::Http => "http",
        }
    }
}

/// The server side of a run.
#[derive(Debug)]
pub(crate) struct Servers {
    transport: Transport,
    url: Option<String>,
    /// Behind a lock because it is not `Sync`.
    _served: Mutex<Option<Served>>,
}

/// The number of servers on sockets that run.
static SERVING: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of servers on sockets that run.
pub(crate) fn serving() -> usize {
    SERVING.load(Ordering::SeqCst)
}

impl Servers {
    pub(crate) fn start<R: StressRuntime>(transport: Transport) -> Self {
        let served = (transport == Transport::Http).then(R::serve_http);
        let url = served.as_ref().map(|served| format!("http://{}/mcp", served.address));
        Self { transport, url, _served: Mutex::new(served) }
    }

    /// Connects a client.
    pub(crate) async fn connect<R: StressRuntime>(
        &self,
        client: Client,
    ) -> Result<Connection, Error> {
        match (&self.url, self.transport) {
            (Some(url), _) => {
                let remote = Remote::new(url)?;
                R::connect_http(client, remote).await
            }
            (None, Transport::Child) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["--serve", R::NAME]);
                R::spawn(client, command).await
            }
            (None, _) => {
                let (ours, theirs) = UnixStream::pair()?;
                SERVING.fetch_add(1, Ordering::SeqCst);
                R::run(async move {
                    let _ended = R::serve(server(), theirs.into()).await;
                    SERVING.fetch_sub(1, Ordering::SeqCst);
                });
                R::connect(client, ours.into()).await
            }
        }
    }
}

impl Servers {
    /// Returns whether a client can reconnect by itself.
    pub(crate) fn can_reconnect(&self) -> bool {
        self.transport != Transport::Pipe
    }

    /// Returns whether each connection has its own server process.
    pub(crate) fn can_exit(&self) -> bool {
        self.transport == Transport::Child
    }
}

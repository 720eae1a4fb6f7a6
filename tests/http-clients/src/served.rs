//! Our own server on a local port, on its own threads.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};

use mcp_adapter::http::{Http, Remote, Stop};
use mcp_adapter::{Server, on_runtime};

/// A server that runs until dropped.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    stop: Stop,
    serving: Option<JoinHandle<()>>,
}

impl Served {
    /// Starts a server, which also offers HTTP+SSE.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self::with(server, Http::new().sse())
    }

    /// Starts a server with options.
    #[must_use]
    pub fn with(server: Server, options: Http) -> Self {
        Self::on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), server, options)
    }

    /// Starts a server on the port of an earlier one, whose sessions it does not know.
    #[must_use]
    pub fn again(address: SocketAddr, server: Server) -> Self {
        Self::on(TcpListener::bind(address).unwrap(), server, Http::new())
    }

    fn on(listener: TcpListener, server: Server, options: Http) -> Self {
        let address = listener.local_addr().unwrap();
        let stop = Stop::new();
        let until = stop.clone();
        let server: mcp_blocking::Server = on_runtime::server(server);
        let serve = move || server.serve_http(listener, options, &until).wait().unwrap();
        let serving = thread::spawn(serve);
        Self { address, stop, serving: Some(serving) }
    }

    /// Returns the server's address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the server's address for a client.
    pub fn remote(&self) -> Remote {
        Remote::new(&format!("http://{}/mcp", self.address)).unwrap()
    }

    /// Returns the server's address for a client over HTTP+SSE.
    pub fn sse_remote(&self) -> Remote {
        Remote::new(&format!("http://{}/sse", self.address)).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        let _told_by_itself = self.serving.take().map(JoinHandle::join);
    }
}

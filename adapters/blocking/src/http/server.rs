//! Servers over Streamable HTTP for programs without a runtime; knows nothing of what is said.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapter::http::{Http, HttpRuntime, HttpService, Stop};
use mcp_adapter::{BoxFuture, Server, Spawn};

use super::EventLoop;

impl HttpRuntime for EventLoop {
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        mcp_smol::http::sleep(duration)
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}

/// How a [`Server`] serves over HTTP without a runtime.
pub trait ServeHttp {
    /// Serves on a listener until it is told to stop; then nobody new is let in, sessions end, and
    /// what is being answered may take 2 s more.
    ///
    /// Bind the listener to `127.0.0.1` unless others are to reach it; which hosts and origins may
    /// is said by [`Http`].
    ///
    /// # Errors
    /// When something was registered that cannot be offered, or the listener fails for good.
    fn serve_http(&self, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()>;
}

impl ServeHttp for Server {
    fn serve_http(&self, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        let service = HttpService::new(self, options, Arc::new(EventLoop))?;
        mcp_smol::http::block_on(mcp_smol::http::serve(service, listener, stop))
    }
}

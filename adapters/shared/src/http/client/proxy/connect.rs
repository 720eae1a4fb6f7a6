//! Connections to a proxy, and the tunnels (`CONNECT`) that it opens.

use std::future::pending;
use std::io;

use bytes::Bytes;
use futures_lite::future::or;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Method, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::http1::Builder;

use super::error::ProxyError;
use super::server::{ProxyServer, host_and_port};
use crate::http::client::full_body::FullBody;
use crate::http::dial::{ByteStream, Dial, dial_any};
use crate::http::hyper_stream::HyperStream;

/// The maximum length of the head of a proxy's response, and the maximum number of its headers.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;

type Stream = Box<dyn ByteStream>;

impl ProxyServer {
    /// Opens a connection to the proxy, for requests that it forwards.
    pub(crate) async fn connect(&self, runtime: &dyn Dial) -> io::Result<Stream> {
        let connected = async {
            let addresses = runtime.resolve(&self.host, self.port).await?;
            dial_any(runtime, &addresses).await
        };
        let (stream, _) = connected.await.map_err(|error| self.unreachable(&error))?;
        Ok(stream)
    }

    /// Opens a tunnel through the proxy to a host, whose name the proxy resolves.
    ///
    /// The caller bounds the time.
    pub(crate) async fn tunnel(
        &self,
        runtime: &dyn Dial,
        host: &str,
        port: u16,
    ) -> io::Result<Stream> {
        let target = host_and_port(host, port);
        let request = self.request(&target).map_err(io::Error::other)?;
        let stream = HyperStream(self.connect(runtime).await?);
        let mut builder = Builder::new();
        builder.max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
        let (mut sender, connection) =
            builder.handshake(stream).await.map_err(|error| self.broken(error))?;
        let opened = async {
            let response =
                sender.send_request(request).await.map_err(|error| self.broken(error))?;
            self.accept(response, target).await
        };
        let driven = async {
            // The request reports how the connection ends.
            let _ended = connection.with_upgrades().await;
            pending().await
        };
        or(opened, driven).await
    }

    fn request(&self, target: &str) -> Result<Request<FullBody>, http::Error> {
        let mut request = Request::new(FullBody::new(Bytes::new()));
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = Uri::try_from(target)?;
        let fields = request.headers_mut();
        fields.insert(HOST, HeaderValue::from_str(target)?);
        if let Some(credentials) = self.credentials() {
            fields.insert(PROXY_AUTHORIZATION, credentials.clone());
        }
        Ok(request)
    }

    /// Returns the stream of a tunnel that the proxy has opened.
    async fn accept(&self, response: Response<Incoming>, target: String) -> io::Result<Stream> {
        match response.status().as_u16() {
            200..300 => {}
            407 => return Err(self.unauthorized().into()),
            status => {
                return Err(ProxyError::Refused { proxy: self.to_string(), target, status }.into());
            }
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(|error| self.broken(error))?;
        let parts = upgraded.downcast::<HyperStream<Stream>>();
        let parts = parts.map_err(|_| io::Error::other("the tunnel has a foreign stream"))?;
        // The other end of a tunnel has nothing to send before the TLS handshake has begun.
        if !parts.read_buf.is_empty() {
            return Err(self.broken("it sent more than its response"));
        }
        Ok(parts.io.0)
    }

    fn unreachable(&self, error: &io::Error) -> io::Error {
        let (kind, why) = (error.kind(), error.to_string());
        ProxyError::Unreachable { proxy: self.to_string(), kind, why }.into()
    }

    fn broken(&self, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
        self.unreachable(&io::Error::other(error))
    }
}

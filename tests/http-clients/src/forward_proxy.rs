//! An HTTP proxy that leads every host to one server.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// An HTTP proxy. It forwards requests, and opens tunnels. Dropping it closes all its connections.
#[derive(Debug)]
pub struct ForwardProxy {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// The port of the server.
    server: u16,
    /// The field `Proxy-Authorization` that requests need.
    credentials: Option<String>,
    /// The response to each request, instead of what a proxy does.
    response: Option<Vec<u8>>,
    heads: Mutex<Vec<String>>,
    sockets: Mutex<Vec<TcpStream>>,
    is_over: AtomicBool,
}

impl ForwardProxy {
    /// Starts a proxy to the server at this port.
    #[must_use]
    pub fn new(server: u16) -> Self {
        Self::start(server, None, None)
    }

    /// Starts a proxy that wants this field `Proxy-Authorization`.
    #[must_use]
    pub fn guarded(server: u16, credentials: &str) -> Self {
        Self::start(server, Some(credentials.to_owned()), None)
    }

    /// Starts a proxy that sends these bytes in response to each request.
    #[must_use]
    pub fn scripted(response: impl Into<Vec<u8>>) -> Self {
        Self::start(0, None, Some(response.into()))
    }

    fn start(server: u16, credentials: Option<String>, response: Option<Vec<u8>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let inner = Arc::new(Inner {
            server,
            credentials,
            response,
            heads: Mutex::default(),
            sockets: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let proxy = Self { address: listener.local_addr().unwrap(), inner: Arc::clone(&inner) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if inner.is_over.load(Ordering::SeqCst) {
                    break;
                }
                inner.sockets.lock().unwrap().push(client.try_clone().unwrap());
                let inner = Arc::clone(&inner);
                thread::spawn(move || {
                    let _gone = inner.serve(&client);
                    let _gone = client.shutdown(Shutdown::Both);
                });
            }
        });
        proxy
    }

    /// Returns the URL with these credentials, which end in `@`.
    #[must_use]
    pub fn url(&self, credentials: &str) -> String {
        format!("http://{credentials}{}", self.address)
    }

    /// Returns the address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the heads of all requests so far, as the proxy received them.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.inner.heads.lock().unwrap().clone()
    }

    /// Returns the first lines of all requests so far.
    #[must_use]
    pub fn request_lines(&self) -> Vec<String> {
        self.heads().iter().map(|head| head.lines().next().unwrap().to_owned()).collect()
    }
}

impl Inner {
    fn serve(&self, client: &TcpStream) -> io::Result<()> {
        let mut server = None;
        while let Some(head) = read_head(client)? {
            self.heads.lock().unwrap().push(head.clone());
            let mut to_client = client;
            let field = head.lines().find_map(|line| line.strip_prefix("proxy-authorization: "));
            if let Some(response) = &self.response {
                to_client.write_all(response)?;
                // Keeps the connection open until the client closes it.
                return client.take(u64::MAX).read_to_end(&mut Vec::new()).map(drop);
            }
            if self.credentials.is_some() && field != self.credentials.as_deref() {
                let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\
                               proxy-authenticate: Basic realm=\"p\"\r\n\
                               content-length: 0\r\n\r\n";
                return to_client.write_all(refusal.as_bytes());
            }
            if server.is_none() {
                server = Some(self.connect(client)?);
            }
            let mut to_server = server.as_ref().unwrap();
            if head.starts_with("CONNECT ") {
                to_client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
                let mut from_client = client;
                io::copy(&mut from_client, &mut to_server)?;
                return Ok(());
            }
            to_server.write_all(forwarded(&head).as_bytes())?;
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(0, |length| length.parse().unwrap());
            io::copy(&mut client.take(length), &mut to_server)?;
        }
        Ok(())
    }

    /// Connects to the server, and copies to the client what it sends.
    fn connect(&self, client: &TcpStream) -> io::Result<TcpStream> {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server))?;
        self.sockets.lock().unwrap().push(server.try_clone()?);
        let (mut from, mut to) = (server.try_clone()?, client.try_clone()?);
        thread::spawn(move || {
            let _gone = io::copy(&mut from, &mut to);
            let _gone = to.shutdown(Shutdown::Both);
        });
        Ok(server)
    }
}

/// Reads the head of a request, byte for byte; `None` at the end of the connection.
fn read_head(mut client: &TcpStream) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.extend(byte);
    }
    Ok(Some(String::from_utf8(head).unwrap()))
}

/// Returns the head with a path instead of a URL, and without the field for the proxy.
fn forwarded(head: &str) -> String {
    let (first, fields) = head.split_once("\r\n").unwrap();
    let [method, url, version] = *first.split(' ').collect::<Vec<_>>() else { panic!("{first}") };
    let path = url.strip_prefix("http://").unwrap().split_once('/').unwrap().1;
    let is_for_server = |line: &&str| !line.starts_with("proxy-authorization:");
    let fields: Vec<_> = fields.split("\r\n").filter(is_for_server).collect();
    format!("{method} /{path} {version}\r\n{}", fields.join("\r\n"))
}

impl Drop for ForwardProxy {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::SeqCst);
        // Wakes the accept loop, which checks whether to stop.
        let _gone = TcpStream::connect(self.address);
        for socket in self.inner.sockets.lock().unwrap().drain(..) {
            let _gone = socket.shutdown(Shutdown::Both);
        }
    }
}

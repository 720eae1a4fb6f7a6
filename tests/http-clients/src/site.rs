//! A scripted server: a local port, a thread per connection, and a record of all requests.

use std::io::BufReader;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_adapter::http::Remote;

use crate::answer::{Answer, Wire};
use crate::request::Request;

type Play = dyn Fn(&Request, &mut Answer<'_>) + Send + Sync;
pub(crate) type Secure = dyn Fn(TcpStream) -> Option<Box<dyn Wire>> + Send + Sync;

/// A scripted server. Dropping it closes all its connections.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    heard: Mutex<Vec<Request>>,
    sockets: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    open: AtomicUsize,
    is_over: AtomicBool,
}

impl Site {
    /// Starts a server that runs this script for each request.
    pub fn new(play: impl Fn(&Request, &mut Answer<'_>) + Send + Sync + 'static) -> Self {
        Self::listening(Arc::new(|socket| Some(Box::new(socket))), Arc::new(play))
    }

    pub(crate) fn listening(secure: Arc<Secure>, play: Arc<Play>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let site = Self { address: listener.local_addr().unwrap(), inner: Arc::default() };
        let inner = Arc::clone(&site.inner);
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if inner.is_over.load(Ordering::SeqCst) {
                    break;
                }
                let connection = inner.accepted.fetch_add(1, Ordering::SeqCst);
                inner.open.fetch_add(1, Ordering::SeqCst);
                inner.sockets.lock().unwrap().push(socket.try_clone().unwrap());
                let (inner, play, secure) =
                    (Arc::clone(&inner), Arc::clone(&play), Arc::clone(&secure));
                thread::spawn(move || {
                    inner.attend(connection, &socket, &*secure, &*play);
                    let _gone = socket.shutdown(Shutdown::Both);
                    inner.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        site
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the address for a client.
    pub fn remote(&self) -> Remote {
        Remote::new(&self.url()).unwrap()
    }

    /// Returns all requests so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Request> {
        self.inner.heard.lock().unwrap().clone()
    }

    /// Returns the number of requests so far that satisfy a condition, without copying them.
    #[must_use]
    pub fn count(&self, is_counted: impl Fn(&Request) -> bool) -> usize {
        self.inner.heard.lock().unwrap().iter().filter(|request| is_counted(request)).count()
    }

    /// Returns the requests so far with this message method or HTTP method.
    #[must_use]
    pub fn of(&self, what: &str) -> Vec<Request> {
        self.heard().into_iter().filter(|request| request.what() == what).collect()
    }

    /// Returns the requests so far, each as one word.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.heard().iter().map(|request| request.what().to_owned()).collect()
    }

    /// Returns the number of connections so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.inner.accepted.load(Ordering::SeqCst)
    }

    /// Returns the number of open connections.
    #[must_use]
    pub fn open(&self) -> usize {
        self.inner.open.load(Ordering::SeqCst)
    }

    /// Closes the open connections and keeps accepting.
    pub fn hang_up(&self) {
        for socket in self.inner.sockets.lock().unwrap().drain(..) {
            let _gone = socket.shutdown(Shutdown::Both);
        }
    }
}

impl Inner {
    fn attend(&self, connection: usize, socket: &TcpStream, secure: &Secure, play: &Play) {
        let Some(wire) = secure(socket.try_clone().unwrap()) else { return };
        let mut reader = BufReader::new(wire);
        while let Some(mut request) = Request::read(&mut reader) {
            request.connection = connection;
            {
                let mut heard = self.heard.lock().unwrap();
                request.nth = heard.len();
                heard.push(request.clone());
            }
            let mut answer = Answer { wire: reader.get_mut(), socket, is_over: false };
            play(&request, &mut answer);
            if answer.is_over {
                break;
            }
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::SeqCst);
        // Wakes the accept loop, which checks whether to stop.
        let _gone = TcpStream::connect(self.address);
        self.hang_up();
    }
}

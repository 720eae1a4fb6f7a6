//! A server that is played: a port of this machine, a thread for each connection, and all that was
//! heard; knows nothing of what it says.

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

/// A played server. It ends, with all its connections, when it is dropped.
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
    /// A server that plays this to each request.
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

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Where it is, for a client.
    pub fn remote(&self) -> Remote {
        Remote::new(&self.url()).unwrap()
    }

    /// All requests so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Request> {
        self.inner.heard.lock().unwrap().clone()
    }

    /// The requests so far whose message, or else whose verb, is this.
    #[must_use]
    pub fn of(&self, what: &str) -> Vec<Request> {
        self.heard().into_iter().filter(|request| request.what() == what).collect()
    }

    /// What was heard so far, each in a word.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        self.heard().iter().map(|request| request.what().to_owned()).collect()
    }

    /// Connections so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.inner.accepted.load(Ordering::SeqCst)
    }

    /// Connections that are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.inner.open.load(Ordering::SeqCst)
    }

    /// Ends the connections that are open, and goes on.
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
        // It looks again.
        let _gone = TcpStream::connect(self.address);
        self.hang_up();
    }
}

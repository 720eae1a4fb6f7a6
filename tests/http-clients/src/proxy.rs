//! A proxy between a client and a server that forwards bytes and cuts connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_adapter::http::Remote;

/// A proxy. Dropping it closes all its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: SocketAddr,
    /// Bytes from the server until the connection is cut; `usize::MAX` to cut none.
    budget: Mutex<usize>,
    cuts: AtomicUsize,
    is_over: AtomicBool,
    sockets: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy to a server.
    #[must_use]
    pub fn new(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let inner = Inner {
            server,
            budget: Mutex::new(usize::MAX),
            cuts: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            sockets: Mutex::default(),
        };
        let proxy = Self { address: listener.local_addr().unwrap(), inner: Arc::new(inner) };
        let inner = Arc::clone(&proxy.inner);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if inner.is_over.load(Ordering::SeqCst) {
                    break;
                }
                inner.carry(&client);
            }
        });
        proxy
    }

    /// Returns the proxy's address for a client.
    pub fn remote(&self) -> Remote {
        Remote::new(&format!("http://{}/mcp", self.address)).unwrap()
    }

    /// Cuts one connection after this many more bytes from the server.
    pub fn cut_after(&self, bytes: usize) {
        *self.inner.budget.lock().unwrap() = bytes;
    }

    /// Returns the number of connections cut.
    #[must_use]
    pub fn cuts(&self) -> usize {
        self.inner.cuts.load(Ordering::SeqCst)
    }
}

impl Inner {
    fn carry(self: &Arc<Self>, client: &TcpStream) {
        let Ok(server) = TcpStream::connect(self.server) else { return };
        let both = || (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (mut from, mut to) = both();
        self.sockets.lock().unwrap().extend([from.try_clone().unwrap(), to.try_clone().unwrap()]);
        thread::spawn(move || {
            let _gone = std::io::copy(&mut from, &mut to);
            let _gone = to.shutdown(Shutdown::Both);
        });
        let (mut to, mut from) = both();
        let inner = Arc::clone(self);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut chunk) {
                let (count, is_cut) = inner.spend(count);
                if to.write_all(&chunk[..count]).is_err() || is_cut {
                    break;
                }
            }
            let _gone = to.shutdown(Shutdown::Both);
            let _gone = from.shutdown(Shutdown::Both);
        });
    }

    /// Returns how many of `count` bytes to forward, and whether to cut after them.
    fn spend(&self, count: usize) -> (usize, bool) {
        let mut budget = self.budget.lock().unwrap();
        if *budget == usize::MAX {
            return (count, false);
        }
        if count < *budget {
            *budget -= count;
            return (count, false);
        }
        self.cuts.fetch_add(1, Ordering::SeqCst);
        (std::mem::replace(&mut *budget, usize::MAX), true)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.inner.is_over.store(true, Ordering::SeqCst);
        // Wakes the accept loop, which checks whether to stop.
        let _gone = TcpStream::connect(self.address);
        for socket in self.inner.sockets.lock().unwrap().drain(..) {
            let _gone = socket.shutdown(Shutdown::Both);
        }
    }
}

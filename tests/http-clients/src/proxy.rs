//! What stands between a client and a server, and breaks: it carries bytes, and cuts connections
//! off; knows nothing of what they say.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_adapter::http::Remote;

/// A proxy; it ends, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    server: SocketAddr,
    /// Bytes from the server until the connection that carries them is cut off; `usize::MAX` when
    /// none is.
    budget: Mutex<usize>,
    cuts: AtomicUsize,
    is_over: AtomicBool,
    sockets: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Carries everything to this server.
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

    /// Where it is, for a client.
    pub fn remote(&self) -> Remote {
        Remote::new(&format!("http://{}/mcp", self.address)).unwrap()
    }

    /// Cuts a connection off, once, after so many more bytes of the server's.
    pub fn cut_after(&self, bytes: usize) {
        *self.inner.budget.lock().unwrap() = bytes;
    }

    /// Connections that were cut off.
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

    /// How much of so much is carried, and whether that was the last of it.
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
        // It looks again.
        let _gone = TcpStream::connect(self.address);
        for socket in self.inner.sockets.lock().unwrap().drain(..) {
            let _gone = socket.shutdown(Shutdown::Both);
        }
    }
}

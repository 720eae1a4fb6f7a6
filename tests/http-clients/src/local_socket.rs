//! A Unix domain socket that leads to a server on a local port.

use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{fs, io, process, thread};

/// A socket in the folder for temporary files. Dropping it removes the socket.
#[derive(Debug)]
pub struct LocalSocket {
    path: PathBuf,
    accepted: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl LocalSocket {
    /// Starts a socket that leads to this port.
    #[must_use]
    pub fn new(port: u16) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("mcp-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let temporary = std::env::temp_dir();
        // The path of a socket must be short.
        let is_short = temporary.as_os_str().len() < 64;
        let path = if is_short { temporary } else { "/tmp".into() }.join(name);
        // Left by an earlier process: in a container, ids repeat.
        let _none = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let socket = Self { path, accepted: Arc::default(), is_over: Arc::default() };
        let (accepted, is_over) = (Arc::clone(&socket.accepted), Arc::clone(&socket.is_over));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                accepted.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
                let (mut to_client, mut from_server) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || {
                    let _gone = io::copy(&mut from_server, &mut to_client);
                    let _gone = to_client.shutdown(Shutdown::Both);
                });
                let (mut from_client, mut to_server) = (client, server);
                thread::spawn(move || {
                    let _gone = io::copy(&mut from_client, &mut to_server);
                    let _gone = to_server.shutdown(Shutdown::Both);
                });
            }
        });
        socket
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of connections so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for LocalSocket {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the accept loop, which checks whether to stop.
        let _gone = UnixStream::connect(&self.path);
        let _gone = fs::remove_file(&self.path);
    }
}

//! Connected local sockets, of the kind that the platform offers.

#[cfg(unix)]
pub use std::os::unix::net::UnixStream as Socket;

/// One end of a local socket.
#[cfg(not(unix))]
pub use std::net::TcpStream as Socket;

/// Returns both ends of a local socket.
#[cfg(unix)]
#[must_use]
pub fn socket_pair() -> (Socket, Socket) {
    Socket::pair().unwrap()
}

/// Returns both ends of a local socket.
#[cfg(not(unix))]
#[must_use]
pub fn socket_pair() -> (Socket, Socket) {
    use std::net::{Ipv4Addr, TcpListener};

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ours = Socket::connect(listener.local_addr().unwrap()).unwrap();
    let own = ours.local_addr().unwrap();
    loop {
        let (theirs, peer) = listener.accept().unwrap();
        // Another program may have connected.
        if peer == own {
            for socket in [&ours, &theirs] {
                socket.set_nodelay(true).unwrap();
            }
            return (ours, theirs);
        }
    }
}

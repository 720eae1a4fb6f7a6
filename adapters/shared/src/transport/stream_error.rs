//! Errors of the streams of a connection.

use std::io;

/// Returns whether an error means that the peer is gone, which ends a connection without an error.
pub(crate) fn is_disconnect(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof,
    };
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof
    )
}

/// Returns an error that says what failed.
pub(crate) fn cannot(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_gone_is_no_error_and_a_full_disk_is() {
        assert!(is_disconnect(&io::ErrorKind::BrokenPipe.into()));
        assert!(is_disconnect(&io::ErrorKind::ConnectionReset.into()));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(!is_disconnect(&full));
        assert!(cannot("write", &full).to_string().starts_with("cannot write: "));
    }
}

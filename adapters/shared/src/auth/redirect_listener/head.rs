//! Reads the head of an HTTP request and finds the query of a redirect in it.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::Instant;

use mcp_proto::Secret;

/// The maximum length of the first line.
const LINE_BYTES_MAX: usize = 32 << 10;

/// The maximum length of the head.
pub(super) const HEAD_BYTES_MAX: usize = 2 * LINE_BYTES_MAX;

/// Reads a request's head until `deadline`; `None` if it is invalid or too long.
pub(super) fn read(stream: &mut TcpStream, deadline: Instant) -> io::Result<Option<Secret>> {
    // Allocated in full: growing would leave copies of the redirect's code in memory.
    let mut head = vec![0; HEAD_BYTES_MAX];
    let mut length = 0;
    while let Some(room) = head.get_mut(length..).filter(|room| !room.is_empty()) {
        let read = read_some(stream, room, deadline)?;
        // The end of the head may have begun in the last read.
        let searched = length.saturating_sub(3);
        length += read;
        let new = head.get(searched..length).unwrap_or_default();
        if new.windows(4).any(|end| end == b"\r\n\r\n") {
            head.truncate(length);
            return Ok(String::from_utf8(head).ok().map(Secret::new));
        }
        if read == 0 {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Reads and drops what is left until the client closes the connection, or `deadline`.
///
/// Closing a socket with unread bytes could destroy a response on its way.
pub(super) fn drain(stream: &mut TcpStream, deadline: Instant) -> io::Result<()> {
    let mut dropped = [0; 1024];
    while read_some(stream, &mut dropped, deadline)? > 0 {}
    Ok(())
}

fn read_some(stream: &mut TcpStream, room: &mut [u8], deadline: Instant) -> io::Result<usize> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns the query of a request for `path` on `host` and `port`; `None` for any other request.
pub(super) fn query<'h>(head: &'h str, host: &str, port: u16, path: &str) -> Option<&'h str> {
    let (line, rest) = head.split_once("\r\n").filter(|(line, _)| line.len() <= LINE_BYTES_MAX)?;
    let (fields, _) = rest.split_once("\r\n\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_get = method == "GET" && matches!(version, "HTTP/1.1" | "HTTP/1.0");
    let is_plain = words.next().is_none() && target.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_get || !is_plain || !is_host(fields, host, port) {
        return None;
    }
    let (found, query) = target.split_once('?').unwrap_or((target, ""));
    (found == path).then_some(query)
}

/// Returns whether exactly one `Host` field names `host` and `port`.
///
/// A page whose own name was made to resolve to this machine has another `Host`.
fn is_host(fields: &str, host: &str, port: u16) -> bool {
    let fields = fields.split("\r\n").filter_map(|field| field.split_once(':'));
    let mut hosts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let (Some((_, value)), None) = (hosts.next(), hosts.next()) else { return false };
    let value = value.trim_matches([' ', '\t']);
    value.eq_ignore_ascii_case(&format!("{host}:{port}"))
        || (port == 80 && value.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, query};

    fn found(line: &str, fields: &str) -> Option<String> {
        let head = format!("{line}\r\n{fields}\r\n\r\n");
        query(&head, "127.0.0.1", 4321, "/callback").map(str::to_owned)
    }

    const HOST: &str = "Host: 127.0.0.1:4321";

    #[test]
    fn the_query_of_the_redirect_is_found() {
        for (line, expected) in [
            ("GET /callback?code=a%20b&state=c HTTP/1.1", "code=a%20b&state=c"),
            ("GET /callback?a?b HTTP/1.0", "a?b"),
            ("GET /callback HTTP/1.1", ""),
        ] {
            for fields in [HOST, "a: b\r\nHOST:127.0.0.1:4321\t\r\nc: d"] {
                assert_eq!(found(line, fields).as_deref(), Some(expected), "{line}");
            }
        }
    }

    #[test]
    fn other_requests_are_not_the_redirect() {
        for line in [
            "GET / HTTP/1.1",
            "GET /favicon.ico HTTP/1.1",
            "GET /callback/?code=a HTTP/1.1",
            "GET /callback/../callback?code=a HTTP/1.1",
            "GET http://127.0.0.1:4321/callback?code=a HTTP/1.1",
            "POST /callback?code=a HTTP/1.1",
            "HEAD /callback?code=a HTTP/1.1",
            "get /callback?code=a HTTP/1.1",
            "GET /callback?code=a HTTP/2",
            "GET /callback?code=a b HTTP/1.1",
            "GET /callback?code=\u{e9} HTTP/1.1",
            "GET /callback?code=a",
            "",
        ] {
            assert_eq!(found(line, HOST), None, "{line}");
        }
        let long = format!("GET /callback?{} HTTP/1.1", "a".repeat(LINE_BYTES_MAX));
        assert_eq!(found(&long, HOST), None);
    }

    #[test]
    fn other_hosts_are_refused() {
        let line = "GET /callback?code=a HTTP/1.1";
        for fields in [
            "",
            "a: b",
            "Host: evil.example:4321",
            "Host: 127.0.0.1",
            "Host: 127.0.0.1:80",
            "Host: 127.0.0.1:14321",
            "Host: 127.0.0.14321",
            "Host: localhost:4321",
            "Host: 127.0.0.1:4321\r\nHost: 127.0.0.1:4321",
            "Host: 127.0.0.1::4321",
            "X-Host: 127.0.0.1:4321",
        ] {
            assert_eq!(found(line, fields), None, "{fields}");
        }
    }

    #[test]
    fn the_default_port_may_be_left_out() {
        for (host, port, expected) in
            [("127.0.0.1", 80, true), ("127.0.0.1:80", 80, true), ("127.0.0.1", 81, false)]
        {
            let head = format!("GET /?a HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(query(&head, "127.0.0.1", port, "/").is_some(), expected, "{host} {port}");
        }
    }
}

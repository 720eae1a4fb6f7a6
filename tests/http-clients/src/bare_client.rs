//! A blocking HTTP client that opens a connection for each request.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use mcp_adapter::http::SendError;

/// Sends a request to an `http` URL. The response must have a `Content-Length`.
pub fn send_bare(request: &Request<Bytes>) -> Result<Response<impl Read + use<>>, SendError> {
    let authority = request.uri().authority().unwrap();
    let stream = TcpStream::connect(authority.as_str()).map_err(SendError::unsent)?;
    exchange(&stream, request).map_err(SendError::lost)
}

fn exchange(
    mut stream: &TcpStream,
    request: &Request<Bytes>,
) -> io::Result<Response<impl Read + use<>>> {
    let uri = request.uri();
    let path = uri.path_and_query().unwrap();
    let mut head = format!("{} {path} HTTP/1.1\r\n", request.method());
    write!(head, "host: {}\r\n", uri.authority().unwrap()).unwrap();
    write!(head, "content-length: {}\r\n", request.body().len()).unwrap();
    for (name, value) in request.headers() {
        write!(head, "{name}: {}\r\n", value.to_str().unwrap()).unwrap();
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    stream.write_all(request.body())?;

    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut response = Response::builder().status(status);
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name == "content-length" {
            length = value.parse().unwrap();
        }
        let name = HeaderName::try_from(name).unwrap();
        response = response.header(name, HeaderValue::try_from(value).unwrap());
    }
    Ok(response.body(reader.take(length)).unwrap())
}

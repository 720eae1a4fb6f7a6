//! The server under attack, and connections to it from the attacker's address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_http_tests::Request;
use socket2::{Domain, Socket, Type};

pub(crate) struct Target {
    process: Child,
    pub(crate) address: SocketAddr,
    attacker: IpAddr,
}

impl Target {
    pub(crate) fn start(server: &Path, runtime: &str, attacker: IpAddr) -> Self {
        let mut process = Command::new(server)
            .args(["--runtime", runtime, "http", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts: cargo build --release -p mcp-fixtures");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("listening on http://");
        let address = address.trim_end_matches("/mcp").parse().expect("an address");
        Self { process, address, attacker }
    }

    /// Returns the resident memory of the server, in MiB.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).expect("its memory");
        kib.parse::<u64>().expect("a number") / 1024
    }

    /// Connects from the attacker's address; `None` if the server refuses.
    pub(crate) fn connect(&self) -> Option<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
        socket.bind(&SocketAddr::new(self.attacker, 0).into()).ok()?;
        let patience = Duration::from_secs(10);
        socket.connect_timeout(&self.address.into(), patience).ok()?;
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(patience)).ok()?;
        stream.set_write_timeout(Some(Duration::from_secs(2))).ok()?;
        Some(stream)
    }

    /// Sends a request over a new connection, which stays open as long as the returned value.
    pub(crate) fn send(&self, request: &Request) -> Option<TcpStream> {
        let mut stream = self.connect()?;
        // The server may refuse a request before it has read it.
        let _refused = stream.write_all(&request.bytes());
        Some(stream)
    }

    /// Sends a request and reads the beginning of the response.
    pub(crate) fn ask(&self, request: &Request) -> Option<String> {
        let mut stream = self.send(request)?;
        let mut head = vec![0; 4096];
        let count = stream.read(&mut head).ok()?;
        Some(String::from_utf8_lossy(&head[..count]).into_owned())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _gone = self.process.wait();
    }
}

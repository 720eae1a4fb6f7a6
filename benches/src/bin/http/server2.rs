//! One of the servers over HTTP/2 as a program: prints its port, and serves until its stdin ends.

#![allow(clippy::print_stdout, reason = "prints its port")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use mcp_benches::http::Kind;

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let kind = [Kind::BareHttp2, Kind::Tokio, Kind::Smol, Kind::Blocking]
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    std::thread::spawn(|| {
        let _ended = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    kind.serve(listener, false)
}

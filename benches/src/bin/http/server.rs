//! One of the HTTP servers as a program: prints its port, and serves until its stdin ends.

#![allow(clippy::print_stdout, reason = "prints its port")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use mcp_benches::http::Kind;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let delays = arguments.next().as_deref() == Some("delays");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    std::thread::spawn(|| {
        let _ended = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    kind.serve(listener, delays)
}

//! One of the HTTP servers as a program: prints its port, and serves until its stdin ends.

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    mcp_benches::http::run_server(&name, arguments.next().as_deref() == Some("delays"))
}

//! A client that lists the tools of a server. If the server requires it, a user logs in first.
//!
//! Run it with
//! `cargo run --example tokio_login -p mcp-tokio --features auth -- https://mcp.example.com/mcp`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the program talks to its user")]

use std::error::Error;

use mcp_tokio::Client;
use mcp_tokio::auth::{Auth, FileStore};
use mcp_tokio::http::Remote;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("the argument is the URL of a server")?;
    let home = std::env::var("HOME")?;
    let auth = Auth::user("Login example")
        .store(FileStore::new(format!("{home}/.mcp-login-example")))
        .on_login(|login| {
            eprintln!("Log in at {}", login.url().expose());
            eprintln!("The browser opens by itself. If not, paste the address it ends at:");
            let mut address = String::new();
            while std::io::stdin().read_line(&mut address).is_ok_and(|length| length > 0) {
                if login.redirected(&address) {
                    return;
                }
                address.clear();
            }
        });

    let remote = Remote::new(&url)?.authorized(auth);
    let connection = Client::new("login-example", "1.0.0").connect_http(remote).await?;
    for tool in connection.list_tools().await? {
        println!("{}", tool.name);
    }
    connection.close().await?;
    Ok(())
}

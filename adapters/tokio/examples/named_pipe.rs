//! A server and a client over a named pipe of Windows.
//!
//! `cargo run -p mcp-tokio --example tokio_named_pipe` runs both in one process. A server for many
//! clients creates the next instance of the pipe before it serves a connected one.

#![allow(clippy::print_stdout, reason = "prints the result")]

#[cfg(windows)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use mcp_tokio::{Client, Server};
    use tokio::net::windows::named_pipe::{ClientOptions, ServerOptions};

    let name = format!(r"\\.\pipe\mcp-example-{}", std::process::id());
    // Fails if another program has created a pipe of this name.
    let pipe = ServerOptions::new().first_pipe_instance(true).create(&name)?;
    let serving = tokio::spawn(async move {
        pipe.connect().await?;
        let (reader, writer) = tokio::io::split(pipe);
        Server::new("pipe-server", "1.0.0").serve(reader, writer).await
    });

    let (reader, writer) = tokio::io::split(ClientOptions::new().open(&name)?);
    let connection = Client::new("pipe-client", "1.0.0").connect(reader, writer).await?;
    println!("connected, with revision {:?}", connection.revision());
    connection.close().await?;
    serving.await??;
    Ok(())
}

#[cfg(not(windows))]
fn main() {
    println!("named pipes of this kind exist on Windows only");
}

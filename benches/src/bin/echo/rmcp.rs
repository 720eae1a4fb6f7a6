//! A server of the official SDK that echoes, on its faster transport for stdin and stdout.

mod handler;

use rmcp::ServiceExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        handler::Echo.serve(rmcp::transport::stdio_pipes()).await?.waiting().await?;
        Ok(())
    })
}

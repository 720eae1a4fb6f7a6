//! A server of the official SDK that echoes, on the transport that its documentation shows.

mod handler;

use rmcp::ServiceExt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        handler::Echo.serve(rmcp::transport::stdio()).await?.waiting().await?;
        Ok(())
    })
}

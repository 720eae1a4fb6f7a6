//! Runs the agent with a server in memory.

use mcp_tokio::{Client, Server, testing};

#[allow(dead_code, reason = "the example also has a main function")]
#[path = "../examples/agent.rs"]
mod agent;

#[tokio::test]
async fn the_agent_makes_the_calls_of_the_model() -> Result<(), Box<dyn std::error::Error>> {
    let (called, calls) = std::sync::mpsc::channel();
    let server = Server::new("bell", "1.0.0")
        .tool("ring", "Rings", move || called.send(()).unwrap_or_default());
    let connection = testing::connect(&server, Client::new("test", "1.0.0")).await?;
    let model = agent::Model(vec!["unknown".into(), "ring".into()]);
    assert_eq!(agent::run(&connection, model).await?, "done");
    assert_eq!(calls.try_iter().count(), 1);
    connection.close().await?;
    Ok(())
}

//! A client that sends its requests with `ureq`, whose functions block.
//!
//! Run it with `cargo run -p mcp-cookbook --example ureq_client -- http://127.0.0.1:8080/mcp`. It
//! lists the tools of the server, calls `count` and shows its progress, and then calls `grow` and
//! waits until the server announces that its tools changed.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use mcp_blocking::Client;
use mcp_blocking::http::{BlockingClient, Remote, SendError};
use mcp_blocking::proto::Filter;
use serde_json::json;
use ureq::BodyReader;

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("expected the URL of a server")?;
    talk(Client::new("ureq_client", "1.0.0"), &url, |line| println!("{line}"))
}

/// Returns the server at a URL, to which `ureq` sends the requests, each on a thread.
fn remote(url: &str) -> Result<Remote, Box<dyn Error>> {
    let agent = ureq::Agent::config_builder()
        // Redirects are up to the adapter: another origin must not receive credentials.
        .max_redirects(0)
        .max_redirects_will_error(false)
        // The adapter reads the responses with other statuses, too.
        .http_status_as_error(false)
        // Other timeouts would end event streams.
        .timeout_connect(Some(Duration::from_secs(10)))
        .build()
        .new_agent();
    Ok(Remote::with_client(url, BlockingClient::new(move |request| send(&agent, request)))?)
}

fn send(
    agent: &ureq::Agent,
    request: Request<Bytes>,
) -> Result<Response<BodyReader<'static>>, SendError> {
    // `ureq` adds the length of a body, also to requests that have none.
    let response = if request.body().is_empty() {
        agent.run(request.map(|_| ()))
    } else {
        agent.run(request.map(|body| body.to_vec()))
    };
    let response = response.map_err(|error| match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => SendError::unsent(error),
        _ => SendError::lost(error),
    })?;
    Ok(response.map(ureq::Body::into_reader))
}

/// Connects to a server, uses it, and shows what it does.
pub(crate) fn talk(
    client: Client,
    url: &str,
    mut show: impl FnMut(String) + Send,
) -> Result<(), Box<dyn Error>> {
    let connection = client.connect_http(remote(url)?).wait()?;
    for tool in connection.list_tools().wait()? {
        show(format!("tool {}", tool.name));
    }
    let counting = connection
        .call_tool("count", &json!({}))
        .progress(|progress| show(format!("progress {}", progress.progress)));
    let result = counting.wait()?;
    show(format!("result {}", result.to_text()));

    let mut changes = connection.subscribe(&Filter::new().tools()).wait()?;
    connection.call_tool("grow", &json!({})).wait()?;
    let change = changes.next().wait()?.ok_or("the stream has ended")?;
    show(format!("changed {change:?}"));
    connection.close().wait()?;
    Ok(())
}

//! A client that sends its requests with `reqwest`, with its pool, its proxies and its TLS.
//!
//! Run it with `cargo run -p mcp-cookbook --example reqwest_client -- http://127.0.0.1:8080/mcp`. It
//! lists the tools of the server, calls `count` and shows its progress, and then calls `grow` and
//! waits until the server announces that its tools changed.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use mcp_tokio::http::{ReceivedBody, Remote, SendError};
use mcp_tokio::proto::Filter;
use mcp_tokio::{BoxFuture, Client};
use serde_json::json;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("expected the URL of a server")?;
    talk(Client::new("reqwest_client", "1.0.0"), &url, |line| println!("{line}")).await
}

/// Returns the server at a URL, to which `reqwest` sends the requests.
fn remote(url: &str) -> Result<Remote, Box<dyn Error>> {
    let client = reqwest::Client::builder()
        // Redirects are up to the adapter: another origin must not receive credentials.
        .redirect(reqwest::redirect::Policy::none())
        // A timeout for whole responses would end event streams.
        .connect_timeout(Duration::from_secs(10))
        .build()?;
    Ok(Remote::with_client(url, move |request| send(client.clone(), request))?)
}

fn send(
    client: reqwest::Client,
    request: Request<Bytes>,
) -> BoxFuture<'static, Result<Response<ReceivedBody>, SendError>> {
    Box::pin(async move {
        let (head, body) = request.into_parts();
        let request = client.request(head.method, head.uri.to_string()).headers(head.headers);
        // The errors of `reqwest` contain the URL, whose query may be a secret.
        let response = request.body(body).send().await.map_err(|error| {
            let is_unsent = error.is_connect() || error.is_builder();
            let error = error.without_url();
            if is_unsent { SendError::unsent(error) } else { SendError::lost(error) }
        })?;
        Ok(Response::from(response).map(ReceivedBody::new))
    })
}

/// Connects to a server, uses it, and shows what it does.
pub(crate) async fn talk(
    client: Client,
    url: &str,
    mut show: impl FnMut(String) + Send,
) -> Result<(), Box<dyn Error>> {
    let connection = client.connect_http(remote(url)?).await?;
    for tool in connection.list_tools().await? {
        show(format!("tool {}", tool.name));
    }
    let counting = connection
        .call_tool("count", &json!({}))
        .progress(|progress| show(format!("progress {}", progress.progress)));
    let result = counting.await?;
    show(format!("result {}", result.to_text()));

    let mut changes = connection.subscribe(&Filter::new().tools()).await?;
    connection.call_tool("grow", &json!({})).await?;
    let change = changes.next().await?.ok_or("the stream has ended")?;
    show(format!("changed {change:?}"));
    connection.close().await?;
    Ok(())
}

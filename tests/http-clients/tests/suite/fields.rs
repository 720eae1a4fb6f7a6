//! Request headers beyond those of the protocol.

use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{OverHttp, Site, legacy, modern, result};
use serde_json::json;
use smol::channel::unbounded;

use crate::{legacy_client, modern_client};

rows! {
    custom_fields_are_sent_with_each_request,
    uncompressed_responses_are_asked_for_and_others_named,
    arguments_are_mirrored_in_fields_and_invalid_tools_are_dropped_http_48,
}

async fn custom_fields_are_sent_with_each_request<R: OverHttp>() {
    let site = Site::new(legacy);
    let remote =
        site.remote().header("x-tenant", "one").unwrap().header("user-agent", "row").unwrap();
    let connection = R::connect_http(legacy_client(), remote).await.unwrap();
    success(connection.call_tool("echo", &json!({})).await);
    eventually("a stream is asked for", || site.of("GET").len() == 1).await;
    connection.close().await.unwrap();
    let words = site.words();
    for what in ["initialize", "notifications/initialized", "GET", "tools/call", "DELETE"] {
        assert!(words.iter().any(|word| word == what), "{what}: {words:?}");
    }
    for request in site.heard() {
        assert_eq!(request.field("x-tenant"), Some("one"), "{}", request.what());
        assert_eq!(request.field("user-agent"), Some("row"));
        assert_eq!(request.field("host"), Some(&*format!("127.0.0.1:{}", site.port())));
        assert_eq!(request.path, "/mcp");
        let once = |name| request.fields.iter().filter(|(key, _)| key == name).count() <= 1;
        assert!(
            ["host", "content-length", "content-type", "accept", "mcp-session-id"]
                .into_iter()
                .all(once)
        );
    }
}

async fn uncompressed_responses_are_asked_for_and_others_named<R: OverHttp>() {
    for coding in ["gzip", "br"] {
        for client in [legacy_client(), modern_client()] {
            let site = Site::new(move |request, answer| match request.what() {
                "tools/call" => {
                    let fields =
                        [("content-type", "application/json"), ("content-encoding", coding)];
                    answer.status(200, &fields, "\u{1f}\u{8b}");
                }
                "GET" => answer.status(405, &[], ""),
                _ if request.field("mcp-session-id").is_some()
                    || request.what() == "initialize" =>
                {
                    legacy(request, answer);
                }
                _ => modern(request, answer),
            });
            let connection = R::connect_http(client, site.remote()).await.unwrap();
            let error = connection.call_tool("echo", &json!({})).await.unwrap_err().to_string();
            assert!(error.contains(coding) && error.contains("identity"), "{error}");
            connection.close().await.unwrap();
            for request in site.heard() {
                assert_eq!(request.field("accept-encoding"), Some("identity"), "{request:?}");
            }
        }
    }
}

async fn arguments_are_mirrored_in_fields_and_invalid_tools_are_dropped_http_48<R: OverHttp>() {
    let site = Site::new(|request, answer| match request.what() {
        "tools/list" => {
            let tool = |name: &str, header: &str| {
                let region = json!({"type": "string", "x-mcp-header": header});
                let properties = json!({"region": region});
                json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
            };
            let tools = [tool("good", "Region"), tool("bad", "two words"), tool("worse", "")];
            answer.json(&[], &result(request, &json!({"tools": tools})));
        }
        _ => modern(request, answer),
    });
    let (says, broken) = unbounded();
    let client = modern_client()
        .on_violation(move |violation, _| says.try_send(violation.to_string()).unwrap());
    let connection = R::connect_http(client, site.remote()).await.unwrap();
    let tools: Vec<_> =
        connection.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(tools, ["good"]);
    let violation = broken.recv().await.unwrap();
    assert!(violation.contains("bad, worse"), "{violation}");
    success(connection.call_tool("good", &json!({"region": "eu", "text": "a"})).await);
    success(connection.call_tool("good", &json!({"region": "Zürich", "text": "b"})).await);
    success(connection.call_tool("other", &json!({"region": "eu", "text": "c"})).await);
    let calls = site.of("tools/call");
    assert_eq!(calls[0].field("mcp-param-region"), Some("eu"));
    assert_eq!(calls[1].field("mcp-param-region"), Some("=?base64?WsO8cmljaA==?="));
    assert_eq!(calls[2].field("mcp-param-region"), None);
    assert_eq!(
        (calls[0].field("mcp-method"), calls[0].field("mcp-name")),
        (Some("tools/call"), Some("good"))
    );
}

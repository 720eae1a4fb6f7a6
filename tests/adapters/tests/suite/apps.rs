//! MCP Apps: user interfaces of tools, offered by a server and read by a host.

use mcp_adapter::apps::{
    self, App, AppContents, AppCsp, AppPermission, AppPrefetch, AppSettings, ToolUi,
};
use mcp_adapter::proto::Revision;
use mcp_adapter::proto::schema::{self, Meta, ResourceContents};
use mcp_adapter::testing::{TestPair, pair};
use mcp_adapter::{Client, Cx, Server, Tool};
use mcp_adapter_tests::client;
use serde_json::{Value, json};

const URI: &str = "ui://clock/face.html";
const HTML: &str = "<!DOCTYPE html><title>Clock</title>";

fn settings() -> AppSettings {
    AppSettings {
        csp: AppCsp {
            connect: vec!["https://time.example".to_owned()],
            resources: vec!["https://*.cdn.example".to_owned()],
            ..AppCsp::default()
        },
        permissions: vec![AppPermission::Geolocation, AppPermission::ClipboardWrite],
        domain: Some("clock.host.example".to_owned()),
        prefers_border: Some(false),
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(
        name,
        |cx: Cx| {
            if apps::is_supported_by(cx.peer()) { "12:00" } else { "It is 12:00 UTC" }
        },
    )
    .description("Tells the time")
}

fn server() -> Server {
    let app = App::new(URI, "clock", HTML).unwrap().settings(&settings()).unwrap();
    Server::new("clock", "1")
        .extension(apps::extension())
        .add(app.tool(tool("now")).tool_for_app(tool("tick")))
        .tool("plain", "Has no user interface", || "plain")
}

fn host() -> Client {
    client().extension(apps::extension())
}

fn with_ui(ui: Value) -> schema::Tool {
    let mut tool = schema::Tool::new("t", json!({"type": "object"}));
    tool.meta.insert(Meta::new()).set_member("ui", ui);
    tool
}

/// Fetches the apps of all tools as a host does.
fn prefetch(pair: &mut TestPair, bytes_max: usize) -> AppPrefetch {
    let tools = pair.list_tools().unwrap();
    let mut prefetch = AppPrefetch::new(&tools).bytes_max(bytes_max);
    while let Some(uri) = prefetch.next_uri() {
        if let Ok(result) = pair.read_resource(&uri) {
            prefetch.insert(&uri, &result);
        }
    }
    prefetch
}

#[test]
fn a_host_finds_the_app_of_each_tool_in_both_eras() {
    // `_meta` of tools exists since 2025-06-18.
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut pair = pair(&server(), host().revisions(&[revision])).unwrap();
        let found: Vec<(String, ToolUi)> = pair
            .list_tools()
            .unwrap()
            .iter()
            .map(|tool| (tool.name.to_string(), ToolUi::of(tool)))
            .collect();
        let ui = |uri: Option<&str>, visible_to_model| ToolUi {
            resource_uri: uri.map(String::from),
            visible_to_model,
            visible_to_app: true,
        };
        let expected = [
            ("now", ui(Some(URI), true)),
            ("plain", ui(None, true)),
            ("tick", ui(Some(URI), false)),
        ];
        let mut found = found;
        found.sort_by(|one, other| one.0.cmp(&other.0));
        assert_eq!(found, expected.map(|(name, ui)| (name.to_owned(), ui)));

        let apps = prefetch(&mut pair, AppPrefetch::BYTES_MAX);
        let tools = pair.list_tools().unwrap();
        let now = tools.iter().find(|tool| tool.name == "now").unwrap();
        let expected = AppContents { uri: URI.into(), html: HTML.into(), settings: settings() };
        assert_eq!(apps.app(now), Some(&expected));
        let listed = pair.list_resources().unwrap();
        assert_eq!(listed[0].mime_type.as_deref(), Some(apps::MEDIA_TYPE));
        assert_eq!(AppSettings::read(None, listed[0].meta.as_ref()), settings());
    }
}

#[test]
fn a_tool_knows_whether_the_host_shows_apps() {
    let other = mcp_adapter::proto::Extension::new(apps::EXTENSION_ID);
    let other = other.settings(json!({"mimeTypes": ["text/plain"]}));
    for (client, expected) in [
        (host(), "12:00"),
        (client(), "It is 12:00 UTC"),
        (client().extension(other), "It is 12:00 UTC"),
    ] {
        let mut pair = pair(&server(), client).unwrap();
        let result = pair.call_tool("now", &json!({})).unwrap();
        assert_eq!(result.content[0].as_text(), Some(expected));
        // A server that declares the extension says so to hosts.
        assert!(apps::is_supported_by(&pair.client().peer()));
    }
}

#[test]
fn invalid_apps_are_refused_when_built() {
    for uri in ["", "ui:", "ui://", "UI://a", "https://a.example", "ui://a b", "ui://a\n"] {
        let error = App::new(uri, "a", HTML).unwrap_err().to_string();
        assert!(error.contains("begin with `ui://`"), "{error}");
    }
    let mut settings = settings();
    settings.csp.frames.push("'unsafe-eval'".to_owned());
    let error = App::new(URI, "a", HTML).unwrap().settings(&settings).unwrap_err().to_string();
    assert!(error.contains("'unsafe-eval'"), "{error}");
}

#[test]
fn malformed_metadata_means_the_restrictive_defaults() {
    let all =
        |visible| ToolUi { resource_uri: None, visible_to_model: visible, visible_to_app: visible };
    for (ui, expected) in [
        (json!(7), all(true)),
        (json!({"resourceUri": "https://evil.example"}), all(true)),
        (json!({"resourceUri": ["ui://a"]}), all(true)),
        (json!({"visibility": "model"}), all(false)),
        (json!({"visibility": []}), all(false)),
        (json!({"visibility": [1, {"model": "app"}]}), all(false)),
        (json!({"visibility": ["model"]}), ToolUi { visible_to_model: true, ..all(false) }),
    ] {
        assert_eq!(ToolUi::of(&with_ui(ui.clone())), expected, "{ui}");
    }
    for ui in [
        json!([]),
        json!({"csp": ["https://a"], "permissions": ["camera"], "domain": 1, "prefersBorder": "1"}),
        json!({"csp": {"connectDomains": "https://a", "frameDomains": ["*", "data:", 1]},
            "permissions": {"camera": true}}),
    ] {
        let meta = with_ui(ui.clone()).meta;
        assert_eq!(AppSettings::read(meta.as_ref(), None), AppSettings::default(), "{ui}");
    }
}

#[test]
fn settings_of_the_contents_win_over_those_of_the_list() {
    let one = with_ui(json!({"prefersBorder": true})).meta;
    let other = with_ui(json!({"prefersBorder": false, "domain": "a"})).meta;
    let border = |contents: &Option<Meta>, listed: &Option<Meta>| {
        AppSettings::read(contents.as_ref(), listed.as_ref()).prefers_border
    };
    assert_eq!(border(&one, &other), Some(true));
    assert_eq!(border(&None, &other), Some(false));
    assert_eq!(AppSettings::read(one.as_ref(), other.as_ref()).domain, None);
}

#[test]
fn fetching_is_bounded() {
    let mut pair = pair(&server(), host()).unwrap();
    let tools = pair.list_tools().unwrap();
    for (bytes_max, fetched) in [(0, false), (HTML.len() - 1, false), (HTML.len(), true)] {
        let apps = prefetch(&mut pair, bytes_max);
        assert_eq!(tools.iter().any(|tool| apps.app(tool).is_some()), fetched);
    }
    let many = |number: usize| with_ui(json!({"resourceUri": format!("ui://a/{}", number / 2)}));
    let tools: Vec<schema::Tool> = (0..1000).map(many).collect();
    let mut apps = AppPrefetch::new(&tools);
    let uris: Vec<String> = std::iter::from_fn(|| apps.next_uri()).collect();
    assert_eq!((uris.len(), &*uris[1]), (AppPrefetch::APPS_MAX, "ui://a/1"));
}

#[test]
fn only_html_of_the_right_type_and_address_is_an_app() {
    let contents = ResourceContents::text(URI, HTML);
    for (contents, is_app) in [
        (contents.clone().mime_type(apps::MEDIA_TYPE), true),
        (ResourceContents::from_bytes(URI, HTML).mime_type(apps::MEDIA_TYPE), true),
        (contents.mime_type("text/html"), false),
        (ResourceContents::text("ui://other", HTML).mime_type(apps::MEDIA_TYPE), false),
        (ResourceContents::from_bytes(URI, [0xff]).mime_type(apps::MEDIA_TYPE), false),
    ] {
        let server = Server::new("s", "1").resource(URI, "clock", move || contents.clone());
        let result = pair(&server, host()).unwrap().read_resource(URI).unwrap();
        assert_eq!(AppContents::read(URI, &result, None).is_some(), is_app);
    }
}

//! A gateway: one HTTP server in front of several upstream servers, which are commands or URLs.
//!
//! Users log in with bearer tokens and see the tools of their upstreams, with the name of the
//! upstream as a prefix. Calls are passed on with progress and cancellation, and questions of an
//! upstream (forms, pages, sampling, roots) go to the user who made the call. Each user has their
//! own connection to an upstream, which is opened again when it is lost. Each call writes a line to
//! stderr.
//!
//! ```sh
//! cat > gateway.json <<END
//! {"listen": "127.0.0.1:8080",
//!  "users": {"token-of-ada": {"name": "ada", "upstreams": ["notes", "jobs"]},
//!            "token-of-bob": {"name": "bob", "upstreams": ["jobs"]}},
//!  "upstreams": {"notes": {"command": ["target/debug/examples/sqlite_notes", "notes.db"]},
//!                "jobs": {"url": "http://127.0.0.1:8090/mcp"}}}
//! END
//! cargo run -p mcp-cookbook --example gateway -- gateway.json
//! ```

#![expect(clippy::print_stderr, reason = "the log of the gateway")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mcp_tokio::http::{Http, Refusal, Remote, RequestHead, Stop};
use mcp_tokio::layers::{Observation, observe};
use mcp_tokio::proto::catalog::ChangedList;
use mcp_tokio::proto::client::Config;
use mcp_tokio::proto::schema::{CallTool, CallToolResult, Tool};
use mcp_tokio::proto::{Capability, Filter, Principal};
use mcp_tokio::{
    Changes, Client, Connection, Cx, Error, HandlerError, Lists, Page, Recovery, Server,
    Unregistered,
};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;

/// Between the name of an upstream and that of its tool.
const SEPARATOR: &str = "__";
/// What upstreams may ask. A question that the client of a user does not support is refused.
const QUESTIONS: [Capability; 4] = [
    Capability::ElicitationForm,
    Capability::ElicitationUrl,
    Capability::Sampling,
    Capability::Roots,
];
/// The time after which a list leaves out an upstream.
const LIST_TIME: Duration = Duration::from_secs(5);

#[derive(Default, Deserialize)]
struct Settings {
    listen: String,
    /// By their tokens.
    users: BTreeMap<String, User>,
    upstreams: BTreeMap<String, Upstream>,
}

#[derive(Deserialize)]
struct User {
    name: String,
    upstreams: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Upstream {
    Command(Vec<String>),
    Url(String),
}

/// The connections of a user to a server, each opened once.
type Connections = HashMap<(String, String), Arc<OnceCell<Connection>>>;

#[derive(Default)]
struct Gateway {
    settings: Settings,
    /// The connections to upstreams, by the names of the user and of the upstream.
    connections: Mutex<Connections>,
}

impl Gateway {
    fn authenticate(&self, head: &RequestHead) -> Result<Principal, Refusal> {
        let header = head.headers.get("authorization").and_then(|header| header.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let user = token.and_then(|token| self.settings.users.get(token));
        let unknown = || Refusal::new(401, "unknown token").header("www-authenticate", "Bearer");
        user.and_then(|user| Principal::new(&*user.name)).ok_or_else(unknown)
    }

    /// Returns a user's connection to an upstream, which is opened first if there is none.
    async fn connection(&self, name: &str, cx: &Cx) -> Result<Connection, HandlerError> {
        let user = cx.principal().ok_or_else(HandlerError::not_found)?;
        let is_visible = |it: &User| it.name == user.id() && it.upstreams.contains(name);
        let upstream = self.settings.upstreams.get(name);
        let upstream = upstream.filter(|_| self.settings.users.values().any(is_visible));
        let upstream = upstream.ok_or_else(HandlerError::not_found)?;
        let key = (user.id().to_owned(), name.to_owned());
        let cell = Arc::clone(self.connections.lock().await.entry(key).or_default());
        Ok(cell.get_or_try_init(|| open(upstream, name, user, cx.changes())).await?.clone())
    }

    async fn list_tools(self: Arc<Self>, cx: Cx) -> Page<Tool> {
        let mut all = Vec::new();
        for name in self.settings.upstreams.keys() {
            let (gateway, upstream, cx) = (Arc::clone(&self), name.clone(), cx.clone());
            // A task, which continues to open a slow upstream.
            let listed = tokio::spawn(async move {
                let connection = gateway.connection(&upstream, &cx).await?;
                Ok::<_, HandlerError>(connection.list_tools().await?)
            });
            let Ok(Ok(Ok(tools))) = timeout(LIST_TIME, listed).await else { continue };
            all.extend(tools.into_iter().map(|mut tool| {
                tool.name = format!("{name}{SEPARATOR}{}", tool.name).into();
                tool.execution = None; // calls do not become tasks
                tool
            }));
        }
        Page::new(all)
    }

    /// Passes a call on, with its progress, its cancellation and the questions of the upstream.
    async fn call_tool(
        self: Arc<Self>,
        mut call: CallTool,
        cx: Cx,
    ) -> Result<CallToolResult, HandlerError> {
        let (name, tool) = call.name.split_once(SEPARATOR).unwrap_or_default();
        let upstream = self.connection(name, &cx).await?;
        call.name = tool.into();
        cx.relay(upstream.call(call)).await
    }
}

async fn open(
    upstream: &Upstream,
    name: &str,
    user: &Principal,
    changes: &Changes,
) -> Result<Connection, Error> {
    let client = Client::new("gateway", "1.0.0")
        .label(&format!("{name} of {}", user.id()))
        .recovery(Recovery::new().attempts(usize::MAX, Duration::from_secs(1)))
        .on_connection_state(|state, cx| eprintln!("{}: {state:?}", cx.label().unwrap_or("?")))
        .configure(|config| QUESTIONS.into_iter().fold(config, Config::capability));
    let connection = match upstream {
        Upstream::Url(url) => client.connect_http(Remote::new(url)?).await?,
        Upstream::Command(line) => {
            let mut command = Command::new(line.first().map_or("", String::as_str));
            command.args(line.iter().skip(1));
            client.spawn(command).await?
        }
    };
    if let Ok(mut changed) = connection.subscribe(&Filter::new().tools()).await {
        let (changes, user) = (changes.clone(), user.clone());
        tokio::spawn(async move {
            let _unsent = changes.visibility_changed(&user, &[ChangedList::Tools]);
            while let Ok(Some(_)) = changed.next().await {
                let _unsent = changes.visibility_changed(&user, &[ChangedList::Tools]);
            }
        });
    }
    Ok(connection)
}

fn audit(seen: &Observation<'_>) {
    if let Some(tool) = seen.name().filter(|_| seen.method() == "tools/call") {
        let user = seen.principal().map_or("?", Principal::id);
        eprintln!("audit: {user} {tool} {:?} {:?}", seen.outcome(), seen.duration());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: gateway SETTINGS.json")?;
    let settings: Settings = serde_json::from_slice(&std::fs::read(path)?)?;
    let listener = TcpListener::bind(&settings.listen).await?;
    let gateway = Arc::new(Gateway { settings, ..Gateway::default() });
    let users = Arc::clone(&gateway);
    let http = Http::new().authenticating(move |head| users.authenticate(head));
    let tools =
        Unregistered::new().list_tools(Gateway::list_tools).tool_fallback(Gateway::call_tool);
    let server = Server::new("gateway", "1.0.0")
        .state(gateway)
        .layer(observe(audit))
        .lists(Lists::new().announce_changes())
        .add(tools);
    server.serve_http(listener, http, &Stop::on_signal()).await?;
    Ok(())
}

//! A gateway: one HTTP server in front of several upstream servers, which are commands or URLs.
//!
//! Users log in with bearer tokens and see the tools of their upstreams, with the name of the
//! upstream as a prefix. Calls are passed on with progress and cancellation, and questions of an
//! upstream go to the user who made the call. Each user has their own connection to an upstream,
//! which is opened again when it is lost. Each call writes a line to stderr.
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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_tokio::http::{Http, Refusal, Remote, RequestHead, Stop};
use mcp_tokio::layers::{Observation, observe};
use mcp_tokio::proto::catalog::ChangedList;
use mcp_tokio::proto::schema::{CallTool, CallToolResult, Elicit, ElicitResult, ElicitUrl, Tool};
use mcp_tokio::proto::{CallError, Capability, Filter, NeededInput, Principal};
use mcp_tokio::{
    Changes, Client, Connection, Cx, Error, HandlerError, Lists, Page, Pending, Recovery, Server,
    Unregistered,
};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, OwnedMutexGuard, mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Between the name of an upstream and that of its tool.
const SEPARATOR: &str = "__";
/// The time that users have for the answer to a question.
const ANSWER_TIME: Duration = Duration::from_secs(120);
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

#[derive(Default)]
struct Gateway {
    settings: Settings,
    /// By the names of the user and of the upstream.
    lanes: Mutex<HashMap<LaneKey, Arc<OnceCell<Lane>>>>,
    /// By the numbers of their questions.
    asking: Mutex<HashMap<u64, Asking>>,
    questions: AtomicU64,
}

type LaneKey = (String, String);

/// The connection of a user to an upstream, which passes on one call at a time: a question does not
/// say which call asks.
#[derive(Clone)]
struct Lane {
    connection: Connection,
    questions: Arc<tokio::sync::Mutex<mpsc::Receiver<Question>>>,
}

/// A question of an upstream to a user.
type Question = (NeededInput, oneshot::Sender<ElicitResult>);

/// A call in flight, which holds its lane.
struct Forwarded {
    call: Pending<CallToolResult>,
    questions: OwnedMutexGuard<mpsc::Receiver<Question>>,
}

/// A call that waits for the answer of its user.
type Asking = (Forwarded, oneshot::Sender<ElicitResult>);

type Called = Result<CallToolResult, HandlerError>;

impl Gateway {
    fn authenticate(&self, head: &RequestHead) -> Result<Principal, Refusal> {
        let header = head.headers.get("authorization").and_then(|header| header.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let user = token.and_then(|token| self.settings.users.get(token));
        let unknown = || Refusal::new(401, "unknown token").header("www-authenticate", "Bearer");
        user.and_then(|user| Principal::new(&*user.name)).ok_or_else(unknown)
    }

    /// Returns a user's connection to an upstream, which is opened first if there is none.
    async fn lane(&self, name: &str, cx: &Cx) -> Result<Lane, HandlerError> {
        let user = cx.principal().ok_or_else(HandlerError::not_found)?;
        let is_visible = |it: &User| it.name == user.id() && it.upstreams.contains(name);
        let upstream = self.settings.upstreams.get(name);
        let upstream = upstream.filter(|_| self.settings.users.values().any(is_visible));
        let upstream = upstream.ok_or_else(HandlerError::not_found)?;
        let key = (user.id().to_owned(), name.to_owned());
        let cell = Arc::clone(lock(&self.lanes).entry(key).or_default());
        Ok(cell.get_or_try_init(|| open(upstream, name, user, cx.changes())).await?.clone())
    }

    async fn list_tools(self: Arc<Self>, cx: Cx) -> Page<Tool> {
        let mut all = Vec::new();
        for name in self.settings.upstreams.keys() {
            let (gateway, upstream, cx) = (Arc::clone(&self), name.clone(), cx.clone());
            // A task, which continues to open a slow upstream.
            let listed = tokio::spawn(async move {
                let lane = gateway.lane(&upstream, &cx).await?;
                Ok::<_, HandlerError>(lane.connection.list_tools().await?)
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

    /// Passes a call on, or continues with a call that has the answer to its question.
    async fn call_tool(self: Arc<Self>, call: CallTool, cx: Cx) -> Called {
        let mut forwarded = if let Some(question) = cx.state::<u64>()? {
            let asking = lock(&self.asking).remove(&question);
            let (forwarded, answer) = asking.ok_or("the answer came too late")?;
            let _ended = answer.send(cx.answer(&question.to_string())?);
            forwarded
        } else {
            let (name, tool) = call.name.split_once(SEPARATOR).unwrap_or_default();
            let lane = self.lane(name, &cx).await?;
            let mut questions = lane.questions.lock_owned().await;
            while questions.try_recv().is_ok() {} // of earlier calls: they are cancelled
            let mut request = CallTool::new(tool);
            request.arguments = call.arguments;
            let call = lane.connection.call(request).progress(|_| {}).start().await?;
            Forwarded { call, questions }
        };
        loop {
            tokio::select! {
                progress = forwarded.call.next_progress().into_future() => match progress? {
                    Some(progress) => drop(cx.progress(progress)),
                    None => return forwarded.call.await.map_err(refused),
                },
                Some((question, answer)) = forwarded.questions.recv() => {
                    let capability = match question {
                        NeededInput::ElicitUrl(_) => Capability::ElicitationUrl,
                        _ => Capability::ElicitationForm,
                    };
                    if cx.peer().has(capability) {
                        return self.ask(question, (forwarded, answer), &cx);
                    }
                    // Dropping `answer` cancels the question.
                }
            }
        }
    }

    /// Asks the user of a call, which continues when its handler runs again.
    fn ask(self: Arc<Self>, question: NeededInput, asking: Asking, cx: &Cx) -> Called {
        let id = self.questions.fetch_add(1, Ordering::Relaxed);
        cx.set_state(&id)?;
        lock(&self.asking).insert(id, asking);
        tokio::spawn(async move {
            sleep(ANSWER_TIME).await;
            drop(lock(&self.asking).remove(&id)); // cancels the call
        });
        cx.ask_all([(&*id.to_string(), question)])?;
        Err(cx.repeat())
    }
}

async fn open(
    upstream: &Upstream,
    name: &str,
    user: &Principal,
    changes: &Changes,
) -> Result<Lane, Error> {
    let (ask, questions) = mpsc::channel(1);
    let ask_url = ask.clone();
    let client = Client::new("gateway", "1.0.0")
        .label(&format!("{name} of {}", user.id()))
        .recovery(Recovery::new().attempts(usize::MAX, Duration::from_secs(1)))
        .on_connection_state(|state, cx| eprintln!("{}: {state:?}", cx.label().unwrap_or("?")))
        .on_elicitation(move |form: Elicit| hand_over(ask.clone(), form.into()))
        .on_url_elicitation(move |page: ElicitUrl| hand_over(ask_url.clone(), page.into()));
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
    Ok(Lane { connection, questions: Arc::new(questions.into()) })
}

/// Hands a question over to the call of its lane, and waits for the answer.
async fn hand_over(ask: mpsc::Sender<Question>, question: NeededInput) -> ElicitResult {
    let (answer, answered) = oneshot::channel();
    let _closed = ask.send((question, answer)).await;
    answered.await.unwrap_or_else(|_| ElicitResult::cancel())
}

/// Passes on the error of an upstream as it is.
fn refused(error: Error) -> HandlerError {
    match error {
        Error::Call(CallError::Refused(error)) => HandlerError::refused(error),
        error => error.into(),
    }
}

fn audit(seen: &Observation<'_>) {
    if let Some(tool) = seen.name().filter(|_| seen.method() == "tools/call") {
        let user = seen.principal().map_or("?", Principal::id);
        eprintln!("audit: {user} {tool} {:?} {:?}", seen.outcome(), seen.duration());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

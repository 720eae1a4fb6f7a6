//! An open connection with a server, as a program uses it: calls, lists, changes, and its end.

use std::collections::HashSet;
use std::fmt;
use std::process::ExitStatus;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Command};
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest, Encode, Level, ListTools, Ping, Tool,
};
use mcp_proto::{CallOptions, Close, Era, Filter, Peer, Raw, Revision};
use serde::Serialize;

use crate::client::call::{Call, START_PATIENCE, begin};
use crate::client::connector::Origin;
use crate::client::listening::{Feed, Listening};
use crate::error::Error;
use crate::process::child::Child;
use crate::transport::link::{Link, State};

/// An open session with a server. Cheap to clone; all clones are the same connection.
///
/// When the last of them is dropped, the connection is closed, and a server that was started for it
/// is ended as [`close`](Self::close) would, in the background.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link<Machine>>,
    child: Option<Arc<Child>>,
    /// How it came about, if it can once more.
    origin: Option<Arc<Origin>>,
    #[cfg(feature = "jsonschema")]
    schemas: crate::validation::schemas::Schemas,
}

impl Connection {
    pub(crate) fn new(
        link: Arc<Link<Machine>>,
        child: Option<Arc<Child>>,
        origin: Option<Arc<Origin>>,
    ) -> Self {
        let inner = Inner {
            link,
            child,
            origin,
            #[cfg(feature = "jsonschema")]
            schemas: crate::validation::schemas::Schemas::new(
                crate::validation::schemas::Whose::Theirs,
            ),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn link(&self) -> &Arc<Link<Machine>> {
        &self.inner.link
    }

    /// What to reconnect with; `None` for a connection over streams that this side was given.
    pub(crate) fn origin(&self) -> Option<&Arc<Origin>> {
        self.inner.origin.as_ref()
    }

    /// The server, as it said itself.
    ///
    /// # Panics
    /// Never: a connection is handed out once the server has said who it is.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.inner.link.look(|state| {
            state
                .open
                .peer
                .clone()
                .unwrap_or_else(|| unreachable!("a connection begins with a peer"))
        })
    }

    /// The revision that is spoken.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.peer().revision
    }

    /// The era that the server is of: worth keeping for [`Client::expect`](crate::Client::expect).
    #[must_use]
    pub fn era(&self) -> Era {
        self.revision().era()
    }

    /// All tools of the server, from all pages.
    ///
    /// # Errors
    /// When a call fails, or the pages go on in circles. (PAG-07)
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        let mut tools = Vec::new();
        let mut cursor = None;
        let mut seen = HashSet::new();
        while seen.len() < PAGES_MAX && seen.insert(cursor.clone()) {
            let mut request = ListTools::new();
            request.cursor = cursor;
            let page = self.call(request).await?;
            tools.extend(page.tools);
            if page.next_cursor.is_none() {
                return Ok(tools);
            }
            cursor = page.next_cursor;
        }
        Err(Error::Pages)
    }

    /// Calls a tool. The arguments are anything that is an object in JSON.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        // What cannot be written is refused when the call is made: no JSON is no object.
        let arguments = Raw::new(arguments).unwrap_or_else(|_| not_an_object());
        self.call(CallTool::new(name).arguments(arguments))
    }

    /// Checks what a tool answered against its output schema, as it was listed. What the server
    /// wrote is taken with care: a schema that refers elsewhere, or would take too many steps,
    /// is not used.
    ///
    /// # Errors
    /// What is wrong, in words: with the result or with the schema. A tool without a schema
    /// promises nothing.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), String> {
        match &tool.output_schema {
            Some(schema) => crate::validation::fits(&self.inner.schemas, schema, result),
            None => Ok(()),
        }
    }

    /// Makes any request that has a type.
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call::new(&self.inner.link, R::METHOD, request)
    }

    /// Makes any request by the name of its method.
    pub fn call_raw<'c>(&'c self, method: &str, params: Raw) -> Call<'c, Raw> {
        Call::new(&self.inner.link, method.to_owned(), params)
    }

    /// Asks whether the server is there. Only servers of the legacy era know the question.
    ///
    /// # Errors
    /// When it is not; [`Misuse::Unsupported`](mcp_proto::Misuse::Unsupported) in the modern era.
    pub async fn ping(&self) -> Result<(), Error> {
        self.call(Ping::new()).await.map(|_empty| ())
    }

    /// Asks for log messages of this level and above; they come as notifications. In the modern
    /// era, those of the calls that are made from now on.
    ///
    /// # Errors
    /// When the server offers no log messages, or the call fails.
    pub async fn set_log_level(&self, level: Level) -> Result<(), Error> {
        let set = begin::<Raw>(&self.inner.link, START_PATIENCE, |state, now| {
            let options = CallOptions::default();
            state.session.call(now, Command::SetLogLevel { level, options })
        });
        set.await?.await.map(drop)
    }

    /// Listens to changes. Waits until the server has said what it will tell of, which can be less
    /// than was asked for: see [`Listening::hears`].
    ///
    /// # Errors
    /// When it cannot be asked, does not know how to, or does not answer in time.
    pub async fn listen(&self, filter: &Filter) -> Result<Listening, Error> {
        let feed = Feed::new(filter);
        // From here on, giving up ends it.
        let listening = Listening::new(Arc::clone(&feed));
        feed.listen(&self.inner.link).await?;
        if let Some(origin) = &self.inner.origin {
            let mut feeds = origin.feeds.lock().unwrap_or_else(PoisonError::into_inner);
            feeds.retain(|feed| feed.strong_count() > 0);
            feeds.push(Arc::downgrade(&feed));
        }
        feed.wait_open().await?;
        Ok(listening)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub async fn notify_raw(&self, method: &str, params: Option<&Raw>) -> Result<(), Error> {
        let send = |state: &mut State<Machine>, now| {
            let params = params.map(|params| params as &dyn Encode).into();
            state.session.run(now, Command::Notify { method, params })
        };
        Ok(self.inner.link.with_room(NOTIFY_PATIENCE, send).await?)
    }

    /// Ends the connection: open calls end as lost, and a server that was started for it is ended.
    /// Waits for that, and gives how its process ended.
    ///
    /// # Errors
    /// When the server broke a rule that the connection did not survive.
    pub async fn close(self) -> Result<Option<ExitStatus>, Error> {
        self.end();
        self.wait_over().await;
        match self.closed() {
            Some(why @ Close::Fault(_)) => Err(Error::Closed(why)),
            _ => Ok(self.inner.child.as_ref().and_then(|child| child.status())),
        }
    }

    /// Begins to end the connection, as [`close`](Self::close) does, and does not wait for it.
    pub fn end(&self) {
        self.inner.end();
    }

    /// Waits until the connection is over and everything of it has ended, and the last events were
    /// handed out.
    pub async fn wait_over(&self) {
        self.inner.link.wait_over().await;
    }

    /// How the connection ended, if it has.
    #[must_use]
    pub fn closed(&self) -> Option<Close> {
        self.inner.link.look(|state| state.session.closed().cloned())
    }

    /// The last lines that the server wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.inner.child.as_ref().map(|child| child.last_words()).unwrap_or_default()
    }

    pub(crate) async fn failed_start(self, why: Close, probed: bool) -> Error {
        self.inner.end();
        self.wait_over().await;
        let status = self.inner.child.as_ref().and_then(|child| child.status());
        Error::Start { why, status, stderr: self.stderr(), probed, http: None }
    }
}

/// Pages of a list that are followed. (PAG-07)
const PAGES_MAX: usize = 10_000;

/// How long a notification waits for room.
const NOTIFY_PATIENCE: Duration = Duration::from_secs(10);

fn not_an_object() -> Raw {
    Raw::from_text("null").unwrap_or_else(|_| Raw::empty_object())
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Inner {
    fn end(&self) {
        self.link.with(|state, now| state.session.close(now));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

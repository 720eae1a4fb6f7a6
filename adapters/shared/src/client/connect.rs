//! How a client's connection comes about: over streams, or with a child process or over HTTP, which
//! can be once more. Knows nothing of what is said, nor of any runtime.

use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_proto::client::{Client as Machine, Config};

use crate::client::connection::Connection;
use crate::client::connector::{Origin, Recipe, Runtime, Way};
use crate::error::Error;
use crate::exec::workers::Spawn;
use crate::process::child::Child;
use crate::transport::shutdown::Driving;

impl Origin {
    /// Connects.
    pub(crate) async fn connect(self: &Arc<Self>) -> Result<Connection, Error> {
        self.connect_with(self.config.clone()).await
    }

    /// Connects once more; `connection` was the last one.
    pub(crate) async fn again(
        self: &Arc<Self>,
        connection: &Connection,
    ) -> Result<Connection, Error> {
        self.connect_with(self.config.clone().expect(connection.era())).await
    }

    async fn connect_with(self: &Arc<Self>, config: Config) -> Result<Connection, Error> {
        match &self.way {
            Way::Child(command, runtime) => self.spawn_with(command, runtime, config).await,
            #[cfg(feature = "http")]
            Way::Http(remote, runtime) => {
                let (link, transport) = crate::http::start(&self.recipe, remote, runtime, config)?;
                let opening = Opening(Connection::new(link, None, Some(Arc::clone(self))));
                opening.wait().await.map_err(|error| transport.explain(error))
            }
        }
    }

    /// A server that goes away instead of saying which era it is of is not asked again. (T-36)
    async fn spawn_with(
        self: &Arc<Self>,
        command: &Mutex<Command>,
        runtime: &Arc<dyn Runtime>,
        config: Config,
    ) -> Result<Connection, Error> {
        match self.start(command, runtime, config)?.wait_or_fall_back().await {
            Err(Failed { fallback: Some(fallback), .. }) => {
                self.start(command, runtime, *fallback)?.wait().await
            }
            outcome => outcome.map_err(|failed| failed.error),
        }
    }

    fn start(
        self: &Arc<Self>,
        command: &Mutex<Command>,
        runtime: &Arc<dyn Runtime>,
        config: Config,
    ) -> io::Result<Opening> {
        let spawn = Arc::clone(runtime).as_spawn();
        let link = self.recipe.link(config, &spawn)?;
        let mut command = command.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Child::spawn(&mut command).and_then(|child| child.0.watch().map(|()| child));
        drop(command);
        let (child, stdout, stdin) = child.inspect_err(|_| link.over())?;
        let driving =
            Driving::new(Arc::clone(&link), Some(Arc::clone(&child)), self.recipe.limits.clone());
        runtime.drive(driving, stdout, stdin)?;
        Ok(Opening(Connection::new(link, Some(child), Some(Arc::clone(self)))))
    }
}

/// A connection that has not heard of its server yet. Dropping it ends it.
#[derive(Debug)]
pub struct Opening(Connection);

/// A connection that did not come about.
struct Failed {
    error: Error,
    /// What to connect with once more.
    fallback: Option<Box<Config>>,
}

impl Opening {
    /// Waits until the server has said who it is.
    ///
    /// # Errors
    /// [`Error::Start`] when it does not, or not in time.
    pub async fn wait(self) -> Result<Connection, Error> {
        self.wait_or_fall_back().await.map_err(|failed| failed.error)
    }

    async fn wait_or_fall_back(self) -> Result<Connection, Failed> {
        let Self(connection) = self;
        let link = Arc::clone(connection.link());
        let said = link.when(|state| {
            if let Some(why) = &state.open.closed {
                return Some(Err((why.clone(), state.session.fallback())));
            }
            state.open.peer.is_some().then_some(Ok(()))
        });
        match said.await {
            Ok(()) => Ok(connection),
            Err((why, fallback)) => {
                let error = connection.failed_start(why, fallback.is_some()).await;
                Err(Failed { error, fallback: fallback.map(Box::new) })
            }
        }
    }
}

impl Recipe {
    /// A connection over streams, and what is to drive it.
    pub(crate) fn open(
        &self,
        config: Config,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Opening, Driving<Machine>)> {
        let link = self.link(config, runtime)?;
        let driving = Driving::new(Arc::clone(&link), None, self.limits.clone());
        Ok((Opening(Connection::new(link, None, None)), driving))
    }
}

impl Connection {
    /// Starts the server once more, after it died, or connects to it once more over HTTP: a new
    /// connection, with everything as it was, and the era known. (FRM-22)
    ///
    /// Every [`Listening`](crate::Listening) of this connection that is still held, and that the
    /// end of the connection ended, goes on with the new one; what changed in between it does
    /// not tell (STL-38). Calls that were open stay lost, and the level of log messages is to
    /// be set anew. A connection that is still open is closed first. This one stays as it
    /// is; drop it.
    ///
    /// # Errors
    /// As those of `Client::spawn` and of connecting over HTTP. [`Error::Io`] of the kind
    /// `Unsupported` when the connection is over streams that this side was given.
    pub async fn reconnect(&self) -> Result<Self, Error> {
        let Some(origin) = self.origin() else {
            let why =
                "the server was neither started here nor reached over HTTP, and cannot be again";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why).into());
        };
        self.end();
        self.wait_over().await;
        let connection = origin.again(self).await?;
        let feeds = origin.feeds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for feed in feeds.iter().filter_map(Weak::upgrade) {
            if feed.resume(connection.link()).await {
                // What cannot go on has ended, and says why itself.
                let _told_by_its_end = feed.wait_open().await;
            }
        }
        Ok(connection)
    }
}

//! Changes that a client is still to be told of, once it reads again; knows nothing of who listens.

use std::collections::BTreeSet;

use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{Change, Instant, Misuse};

use crate::transport::link::Transport;

/// Resources that wait, and the bytes of their URIs; more are refused.
const URIS_MAX: usize = 1024;
const URIS_BYTES_MAX: usize = 1 << 20;

/// A change that waits is not queued a second time: whoever hears of it looks anew anyway.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    prompts: bool,
    resources: bool,
    tools: bool,
    uris: BTreeSet<String>,
    bytes: usize,
}

impl Untold {
    /// Tells of a change, or keeps it for later.
    pub(crate) fn tell(
        &mut self,
        session: &mut Transport<Machine>,
        now: Instant,
        change: Change<'_>,
    ) -> Result<(), Misuse> {
        match session.run(now, Command::Changed { change }) {
            Err(Misuse::Blocked) => self.keep(change),
            told => told,
        }
    }

    fn keep(&mut self, change: Change<'_>) -> Result<(), Misuse> {
        match change {
            Change::Prompts => self.prompts = true,
            Change::Resources => self.resources = true,
            Change::Tools => self.tools = true,
            Change::Resource(uri) if self.uris.contains(uri) => {}
            Change::Resource(uri) => {
                if self.uris.len() >= URIS_MAX || self.bytes + uri.len() > URIS_BYTES_MAX {
                    return Err(Misuse::Blocked);
                }
                self.bytes += uri.len();
                self.uris.insert(uri.to_owned());
            }
            // No other change is told of here.
            _ => return Err(Misuse::Blocked),
        }
        Ok(())
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        !self.prompts && !self.resources && !self.tools && self.uris.is_empty()
    }

    /// Tells of what waits, as far as there is room.
    pub(crate) fn retry(&mut self, session: &mut Transport<Machine>, now: Instant) {
        let lists = [
            (&mut self.prompts, Change::Prompts),
            (&mut self.resources, Change::Resources),
            (&mut self.tools, Change::Tools),
        ];
        for (waits, change) in lists {
            *waits =
                *waits && session.run(now, Command::Changed { change }) == Err(Misuse::Blocked);
        }
        while let Some(uri) = self.uris.first() {
            let change = Change::Resource(uri);
            if session.run(now, Command::Changed { change }) == Err(Misuse::Blocked) {
                break;
            }
            self.bytes -= uri.len();
            self.uris.pop_first();
        }
    }
}

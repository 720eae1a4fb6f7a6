//! Change notifications that wait until the client reads again.

use std::collections::BTreeSet;

use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{Change, Instant, Misuse};

use crate::transport::link::Transport;

/// The maximum number of waiting resources, and of the bytes of their URIs.
const URIS_MAX: usize = 1024;
const URIS_BYTES_MAX: usize = 1 << 20;

/// The waiting changes, each at most once: a client that is notified reads the latest state.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges {
    prompts: bool,
    resources: bool,
    tools: bool,
    uris: BTreeSet<String>,
    bytes: usize,
}

impl PendingChanges {
    /// Sends a change, or queues it if there is no room.
    ///
    /// # Errors
    /// Fails with [`Misuse::Blocked`] if the queue is full, and otherwise with the connection's
    /// [`Misuse`].
    pub(crate) fn send(
        &mut self,
        connection: &mut Transport<Machine>,
        now: Instant,
        change: Change<'_>,
    ) -> Result<(), Misuse> {
        match connection.run(now, Command::NotifyChanged { change }) {
            Err(Misuse::Blocked) => self.queue(change),
            sent => sent,
        }
    }

    fn queue(&mut self, change: Change<'_>) -> Result<(), Misuse> {
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
            // There are no other kinds of changes yet.
            _ => return Err(Misuse::Blocked),
        }
        Ok(())
    }

    /// Returns whether no change waits.
    pub(crate) fn is_empty(&self) -> bool {
        !self.prompts && !self.resources && !self.tools && self.uris.is_empty()
    }

    /// Sends the waiting changes, as far as there is room.
    pub(crate) fn retry(&mut self, connection: &mut Transport<Machine>, now: Instant) {
        let lists = [
            (&mut self.prompts, Change::Prompts),
            (&mut self.resources, Change::Resources),
            (&mut self.tools, Change::Tools),
        ];
        for (waits, change) in lists {
            *waits = *waits
                && connection.run(now, Command::NotifyChanged { change }) == Err(Misuse::Blocked);
        }
        while let Some(uri) = self.uris.first() {
            let change = Change::Resource(uri);
            if connection.run(now, Command::NotifyChanged { change }) == Err(Misuse::Blocked) {
                break;
            }
            self.bytes -= uri.len();
            self.uris.pop_first();
        }
    }
}

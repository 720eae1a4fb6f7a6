//! Change notifications that wait until the client reads again.

use std::collections::VecDeque;

use mcp_proto::server::{Command, Server as Machine};
use mcp_proto::{Change, Instant, Misuse, OwnedChange, Raw};

use crate::transport::link::BoxedTransport;

/// The maximum number of waiting resources, and of the bytes of their URIs.
const URIS_MAX: usize = 1024;
const URIS_BYTES_MAX: usize = 1 << 20;

/// The maximum number of waiting notifications of extensions, and of their bytes.
const EXTENDED_MAX: usize = 1024;
const EXTENDED_BYTES_MAX: usize = 1 << 20;

/// The waiting changes, each at most once: a client that is notified reads the latest state.
///
/// Boxed while there are any: most clients read in time.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges(Option<Box<WaitingChanges>>);

#[derive(Debug, Default)]
struct WaitingChanges {
    prompts: bool,
    resources: bool,
    tools: bool,
    uris: VecDeque<String>,
    bytes: usize,
    /// The notifications of extensions, in order: each may report something else.
    extended: VecDeque<OwnedChange>,
    extended_bytes: usize,
}

impl PendingChanges {
    /// Sends a change, or queues it if there is no room.
    ///
    /// # Errors
    /// Fails with [`Misuse::Blocked`] if the queue is full, and otherwise with the connection's
    /// [`Misuse`].
    pub(crate) fn send(
        &mut self,
        connection: &mut BoxedTransport<Machine>,
        now: Instant,
        change: Change<'_>,
    ) -> Result<(), Misuse> {
        if let Some(waiting) = self.0.as_mut().filter(|waiting| waiting.precede(change)) {
            return waiting.queue(change);
        }
        match connection.run(now, Command::NotifyChanged { change }) {
            Err(Misuse::Blocked) => self.0.get_or_insert_default().queue(change),
            sent => sent,
        }
    }

    /// Returns whether no change waits.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Sends the waiting changes, as far as there is room.
    pub(crate) fn retry(&mut self, connection: &mut BoxedTransport<Machine>, now: Instant) {
        if let Some(waiting) = &mut self.0 {
            waiting.retry(connection, now);
        }
        self.0.take_if(|waiting| waiting.is_empty());
    }
}

impl WaitingChanges {
    fn queue(&mut self, change: Change<'_>) -> Result<(), Misuse> {
        match change {
            Change::Prompts => self.prompts = true,
            Change::Resources => self.resources = true,
            Change::Tools => self.tools = true,
            Change::Resource(uri) if self.uris.iter().any(|waiting| waiting == uri) => {}
            Change::Resource(uri) => {
                if self.uris.len() >= URIS_MAX || self.bytes + uri.len() > URIS_BYTES_MAX {
                    return Err(Misuse::Blocked);
                }
                self.bytes += uri.len();
                self.uris.push_back(uri.to_owned());
            }
            Change::Extension { .. } => return self.queue_extended(change),
            // There are no other kinds of changes yet.
            _ => return Err(Misuse::Blocked),
        }
        Ok(())
    }

    fn queue_extended(&mut self, change: Change<'_>) -> Result<(), Misuse> {
        if self.extended.iter().any(|waiting| Change::from(waiting) == change) {
            return Ok(());
        }
        let bytes = self.extended_bytes + extended_bytes(change);
        if self.extended.len() >= EXTENDED_MAX || bytes > EXTENDED_BYTES_MAX {
            return Err(Misuse::Blocked);
        }
        self.extended_bytes = bytes;
        self.extended.push_back(change.into());
        Ok(())
    }

    /// Returns whether waiting notifications must be sent before `change`.
    fn precede(&self, change: Change<'_>) -> bool {
        matches!(change, Change::Extension { .. }) && !self.extended.is_empty()
    }

    fn is_empty(&self) -> bool {
        let lists = self.prompts || self.resources || self.tools;
        !lists && self.uris.is_empty() && self.extended.is_empty()
    }

    fn retry(&mut self, connection: &mut BoxedTransport<Machine>, now: Instant) {
        let lists = [
            (&mut self.prompts, Change::Prompts),
            (&mut self.resources, Change::Resources),
            (&mut self.tools, Change::Tools),
        ];
        for (waits, change) in lists {
            *waits = *waits
                && connection.run(now, Command::NotifyChanged { change }) == Err(Misuse::Blocked);
        }
        while let Some(uri) = self.uris.front() {
            let change = Change::Resource(uri);
            if connection.run(now, Command::NotifyChanged { change }) == Err(Misuse::Blocked) {
                break;
            }
            self.bytes -= uri.len();
            self.uris.pop_front();
        }
        while let Some(change) = self.extended.front().map(Change::from) {
            if connection.run(now, Command::NotifyChanged { change }) == Err(Misuse::Blocked) {
                break;
            }
            self.extended_bytes -= extended_bytes(change);
            self.extended.pop_front();
        }
    }
}

/// Returns the bytes of a notification of an extension.
fn extended_bytes(change: Change<'_>) -> usize {
    let Change::Extension { method, key, element, params } = change else { return 0 };
    let params = params.map_or(0, |params: &Raw| params.as_bytes().len());
    method.len() + key.len() + element.len() + params
}

#[cfg(test)]
mod tests {
    use mcp_proto::server::Config;
    use mcp_proto::stdio::Stdio;
    use mcp_proto::{Endpoint as _, Extension, ExtensionMethod, Limits, Side};

    use super::*;

    const DRAWN: &str = "notifications/com.example/drawn";
    const ID: &str = "com.example/whiteboard";

    fn change<'a>(element: &'a str, params: Option<&'a Raw>) -> Change<'a> {
        Change::Extension { method: DRAWN, key: "boards", element, params }
    }

    /// Returns a server whose client declared the extension, in a session.
    fn server() -> Stdio<Machine> {
        let extension = Extension::new(ID)
            .method(ExtensionMethod::notification(Side::Server, DRAWN))
            .listen_key("boards");
        let limits = Limits { outbox_bytes_max: 1, ..Limits::default() };
        let config = Config::new("s", "1").limits(limits).extension(extension).unwrap();
        let mut stream = Stdio::new(Machine::new(Instant::ZERO, config));
        let greeting = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{{\
             \"protocolVersion\":\"2025-11-25\",\"clientInfo\":{{\"name\":\"c\",\
             \"version\":\"1\"}},\"capabilities\":{{\"extensions\":{{\"{ID}\":{{}}}}}}}}}}\n"
        );
        stream.handle_input(Instant::ZERO, greeting.as_bytes());
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        stream.handle_input(Instant::ZERO, ready.as_bytes());
        stream.handle_input(Instant::ZERO, b"\n");
        stream
    }

    #[test]
    fn notifications_of_extensions_wait_in_order_and_are_bounded() {
        let mut connection: BoxedTransport<Machine> = Box::new(server());
        let mut pending = PendingChanges::default();
        let params = Raw::from_text(r#"{"n":1}"#).unwrap();
        // The greeting fills the queue.
        for waits in [change("b1", None), change("b1", Some(&params)), change("b1", None)] {
            pending.send(&mut connection, Instant::ZERO, waits).unwrap();
        }
        for n in 2..EXTENDED_MAX {
            pending.send(&mut connection, Instant::ZERO, change(&n.to_string(), None)).unwrap();
        }
        let refused = pending.send(&mut connection, Instant::ZERO, change("more", None));
        assert_eq!(refused, Err(Misuse::Blocked));
        while connection.outbox().poll_message().is_some() {}
        let mut sent = Vec::new();
        while !pending.is_empty() {
            pending.retry(&mut connection, Instant::ZERO);
            sent.extend(std::iter::from_fn(|| connection.outbox().poll_message()));
        }
        assert_eq!(sent.len(), EXTENDED_MAX);
        assert!(!sent[0].windows(3).any(|part| part == b"\"n\""), "the first has no params");
        assert!(sent[1].ends_with(b"{\"n\":1}}"), "{:?}", sent[1]);
    }

    #[test]
    fn the_bytes_of_waiting_notifications_are_bounded() {
        let mut connection: BoxedTransport<Machine> = Box::new(server());
        let mut pending = PendingChanges::default();
        let half = "x".repeat(EXTENDED_BYTES_MAX / 2);
        pending.send(&mut connection, Instant::ZERO, change(&half, None)).unwrap();
        let other = "y".repeat(EXTENDED_BYTES_MAX / 2);
        let refused = pending.send(&mut connection, Instant::ZERO, change(&other, None));
        assert_eq!(refused, Err(Misuse::Blocked));
    }
}

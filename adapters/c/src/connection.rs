//! A connection of either role, as the functions for C see it.

use std::fmt::Display;

use mcp_proto::catalog::{Catalog, ChangedList, Resolved};
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{Decode, ExtraMembers};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::text::{Numbered, TextForm};
use mcp_proto::{
    CallId, Capability, CommandOutcome, Endpoint, Instant, Misuse, OwnedCommand, Raw, RoleEndpoint,
};

use crate::json::parse;
use crate::status::{Failure, Status};

/// The capabilities that a catalog declares.
const LISTED: [Capability; 3] = [Capability::Prompts, Capability::Resources, Capability::Tools];

pub(crate) struct Connection {
    machine: Box<dyn Machine>,
    /// The oldest event, until it has fit into a buffer of the caller.
    event: Option<Raw>,
}

/// A client or a server, without the types of its events and commands.
trait Machine: Send {
    fn endpoint(&mut self) -> &mut dyn Endpoint;
    fn apply(&mut self, now: Instant, command: &OwnedCommand) -> Result<CommandOutcome, Misuse>;
    /// Removes and returns the oldest event.
    fn poll_event(&mut self, now: Instant) -> Option<Raw>;
}

impl Connection {
    /// Creates a server. An empty catalog lists nothing.
    ///
    /// # Errors
    /// Fails if the configuration or the catalog cannot be read.
    pub(crate) fn server(now: Instant, config: &str, catalog: &str) -> Result<Self, Failure> {
        let mut config = document::<server::Config>("configuration", config)?;
        let catalog = if catalog.is_empty() { None } else { Some(read_catalog(catalog)?) };
        if let Some(catalog) = &catalog {
            let listed = catalog.capabilities();
            let declared = LISTED.into_iter().filter(|capability| listed.has(*capability));
            config = declared.fold(config, server::Config::capability);
        }
        let server = Stdio::new(Server::new(now, config));
        Ok(Self { machine: Box::new(CatalogServer { server, catalog }), event: None })
    }

    /// Creates a client.
    ///
    /// # Errors
    /// Fails if the configuration cannot be read.
    pub(crate) fn client(now: Instant, config: &str) -> Result<Self, Failure> {
        let config = document::<client::Config>("configuration", config)?;
        Ok(Self { machine: Box::new(Stdio::new(Client::new(now, config))), event: None })
    }

    pub(crate) fn endpoint(&mut self) -> &mut dyn Endpoint {
        self.machine.endpoint()
    }

    /// Returns the bytes to send.
    pub(crate) fn output(&mut self) -> &[u8] {
        self.machine.endpoint().outbox().chunk()
    }

    /// Removes bytes that were sent.
    ///
    /// # Errors
    /// Fails if there are fewer.
    pub(crate) fn written(&mut self, count: usize) -> Result<(), Failure> {
        let outbox = self.machine.endpoint().outbox();
        if count > outbox.len() {
            let why = format!("{count} bytes cannot be sent of {}", outbox.len());
            return Err(Failure::new(Status::Misuse, why));
        }
        outbox.advance(count);
        Ok(())
    }

    /// Returns the oldest event, which stays until [`event_is_read`](Self::event_is_read).
    pub(crate) fn event(&mut self, now: Instant) -> Option<&str> {
        if self.event.is_none() {
            self.event = self.machine.poll_event(now);
        }
        self.event.as_ref().map(Raw::as_str)
    }

    pub(crate) fn event_is_read(&mut self) {
        self.event = None;
    }

    /// Applies a command. Returns the call that it started.
    ///
    /// # Errors
    /// Fails if the command cannot be read or applied.
    pub(crate) fn apply(&mut self, now: Instant, command: &str) -> Result<Option<CallId>, Failure> {
        let command = document::<OwnedCommand>("command", command)?;
        let applied = self.machine.apply(now, &command);
        let outcome = applied.map_err(|misuse| {
            let (number, name) = (misuse.number(), misuse.name());
            Failure::new(Status::Misuse, format!("{name} ({number}): {misuse}"))
        })?;
        Ok(outcome.call())
    }
}

/// Reads a document. The error names `what`.
fn document<T: TextForm>(what: &str, text: &str) -> Result<T, Failure> {
    T::from_json(&parse(text)?).map_err(|error| invalid(what, &error))
}

fn invalid(what: &str, error: &dyn Display) -> Failure {
    Failure::new(Status::InvalidJson, format!("invalid {what}: {error}"))
}

/// A server that lists the entries of its catalog by itself.
struct CatalogServer {
    server: Stdio<Server>,
    catalog: Option<Catalog<()>>,
}

impl CatalogServer {
    /// Responds to a request that needs no application. Returns whether the event is for it.
    fn admit(&mut self, now: Instant, event: &server::Event) -> bool {
        let server::Event::Request { incoming, request, context } = event else { return true };
        let Some(catalog) = &self.catalog else { return true };
        // Fails harmlessly if the client has cancelled the request.
        let _stale = match catalog.lookup(request, context.peer.revision) {
            Ok(Resolved::Answer(answer)) => self.server.respond(now, *incoming, &answer),
            Ok(_) => return true,
            Err(error) => self.server.respond_error(now, *incoming, &error),
        };
        false
    }
}

impl Machine for CatalogServer {
    fn endpoint(&mut self) -> &mut dyn Endpoint {
        &mut self.server
    }

    fn apply(&mut self, now: Instant, command: &OwnedCommand) -> Result<CommandOutcome, Misuse> {
        self.server.apply_owned(now, command)
    }

    fn poll_event(&mut self, now: Instant) -> Option<Raw> {
        loop {
            let event = self.server.poll_event()?;
            if self.admit(now, &event) {
                return Some(event.to_json());
            }
        }
    }
}

impl Machine for Stdio<Client> {
    fn endpoint(&mut self) -> &mut dyn Endpoint {
        self
    }

    fn apply(&mut self, now: Instant, command: &OwnedCommand) -> Result<CommandOutcome, Misuse> {
        self.apply_owned(now, command)
    }

    fn poll_event(&mut self, _now: Instant) -> Option<Raw> {
        RoleEndpoint::poll_event(self).map(|event| event.to_json())
    }
}

/// Reads a catalog.
///
/// # Errors
/// Fails if a member is unknown, or if an entry is invalid or repeated.
fn read_catalog(text: &str) -> Result<Catalog<()>, Failure> {
    let catalog = parse(text)?;
    let mut entries = Catalog::new();
    let members = ExtraMembers::decode(&catalog).map_err(|error| invalid("catalog", &error))?;
    for (list, of) in members.iter() {
        for entry in of.elements() {
            add(&mut entries, list, &entry).map_err(|why| {
                let name = entry.member("name").unwrap_or_else(Raw::empty_object);
                invalid(&format!("entry {name} of `{list}` in the catalog"), &why)
            })?;
        }
    }
    Ok(entries)
}

fn add(entries: &mut Catalog<()>, list: &str, entry: &Raw) -> Result<ChangedList, String> {
    fn decoded<T: Decode>(entry: &Raw) -> Result<T, String> {
        T::decode(entry).map_err(|error| error.to_string())
    }
    let added = match list {
        "tools" => entries.add_tool(decoded(entry)?, ()),
        "resources" => entries.add_resource(decoded(entry)?, ()),
        "resourceTemplates" => entries.add_template(decoded(entry)?, ()),
        "prompts" => entries.add_prompt(decoded(entry)?, ()),
        _ => {
            return Err(
                "unknown list; use `tools`, `resources`, `resourceTemplates` or `prompts`".into()
            );
        }
    };
    added.map_err(|error| error.to_string())
}

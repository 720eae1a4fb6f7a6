//! A client and a server in one thread, without IO: the driver moves bytes directly from one to the
//! other and advances a virtual clock.
//!
//! Run it with `cargo run --example in_process -p mcp-proto`. It runs once in each era, legacy and
//! modern, with identical code for the client and the server.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Buf;
use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{
    CallTool, CallToolResult, Decode, Elicit, ElicitResult, Form, ListTools, ListToolsResult, Map,
    TextField, Tool,
};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, Context, Endpoint, ErrorObject, IncomingId,
    Instant, NeededInput, Progress, Raw, Request, Revision,
};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        session(revision, out)?;
    }
    Ok(())
}

// ---- The driver. ----

fn transfer(now: Instant, from: &mut impl Endpoint, to: &mut impl Endpoint) {
    let outbox = from.outbox();
    while outbox.has_remaining() {
        let count = outbox.chunk().len();
        to.handle_input(now, outbox.chunk());
        outbox.advance(count);
    }
}

struct Pair {
    now: Instant,
    client: Stdio<Client>,
    server: Stdio<Server>,
    tools: Catalog<Task>,
}

impl Pair {
    fn new(revision: Revision) -> Result<Self, Box<dyn Error>> {
        let tools = tools()?;
        let now = Instant::ZERO;
        let server_config =
            server::Config::new("counter", "1.0.0").capabilities(tools.capabilities());
        let client_config = client::Config::new("demo", "1.0.0")
            .capability(Capability::ElicitationForm)
            .revisions(&[revision]);
        let client = Stdio::new(Client::new(now, client_config));
        Ok(Self { now, client, server: Stdio::new(Server::new(now, server_config)), tools })
    }

    /// Exchanges messages until neither side has any to send.
    fn settle(&mut self, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        loop {
            transfer(self.now, &mut self.client, &mut self.server);
            while let Some(event) = self.server.poll_event() {
                self.serve(event, out)?;
            }
            transfer(self.now, &mut self.server, &mut self.client);
            if self.client.outbox().is_empty() {
                return Ok(());
            }
        }
    }

    /// Advances the time to the next deadline.
    fn skip_to_deadline(&mut self) {
        let deadlines = [self.client.poll_timeout(), self.server.poll_timeout()];
        if let Some(next) = deadlines.into_iter().flatten().min() {
            self.now = next;
        }
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
    }
}

// ---- The server. ----

/// The handler of a tool. A catalog accepts handlers of any type; here they are plain data.
enum Task {
    Count,
    Greet,
    Sleep,
}

fn tools() -> Result<Catalog<Task>, Box<dyn Error>> {
    let nothing = Raw::from_text(r#"{"type":"object"}"#)?;
    let mut tools = Catalog::new();
    tools.add_tool(
        Tool::new("count", nothing.clone()).description("Counts to three"),
        Task::Count,
    )?;
    tools.add_tool(
        Tool::new("greet", nothing.clone()).description("Greets you by name"),
        Task::Greet,
    )?;
    tools.add_tool(Tool::new("sleep", nothing).description("Never wakes up"), Task::Sleep)?;
    Ok(tools)
}

impl Pair {
    fn serve(&mut self, event: server::Event, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        match event {
            server::Event::Request { incoming, request, context } => {
                self.answer(incoming, &request, &context)?;
            }
            server::Event::RequestCancelled { reason, .. } => {
                writeln!(out, "   server: cancelled, {}", reason.unwrap_or_default())?;
            }
            server::Event::Closed(why) => writeln!(out, "   server: {why}")?,
            _ => {}
        }
        Ok(())
    }

    fn answer(
        &mut self,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Result<(), Box<dyn Error>> {
        let (now, server) = (self.now, &mut self.server);
        match self.tools.lookup(request, context.peer.revision) {
            Ok(Resolved::Answer(answer)) => server.respond(now, incoming, &answer)?,
            Ok(Resolved::Tool { handler: Task::Count, .. }) => {
                for count in [1.0, 2.0, 3.0] {
                    server.progress(now, incoming, &Progress::new(count).with_total(3.0))?;
                }
                server.respond(now, incoming, &CallToolResult::text("three"))?;
            }
            Ok(Resolved::Tool { handler: Task::Greet, .. }) => {
                // The request is delivered a second time, with the answer. The server stores
                // nothing in the meantime.
                let name = context
                    .input_responses
                    .as_ref()
                    .and_then(|answers| answers.decode::<ElicitResult>("name"));
                match name.transpose()?.and_then(|given| given.content?.member("name")) {
                    Some(name) => {
                        let greeting =
                            format!("Good morning, {}.", name.to_text().unwrap_or_default());
                        server.respond(now, incoming, &CallToolResult::text(greeting))?;
                    }
                    None if context.input_responses.is_some() => {
                        server.respond(
                            now,
                            incoming,
                            &CallToolResult::error("Good morning, stranger."),
                        )?;
                    }
                    None => {
                        let form = Form::new(Map::new()).field("name", TextField::new());
                        let question = NeededInput::from(Elicit::form("Who are you?", form));
                        server.request_input(now, incoming, &[("name", question)], None)?;
                    }
                }
            }
            Ok(Resolved::Tool { handler: Task::Sleep, .. }) => {}
            Ok(_) => {
                server.respond_error(
                    now,
                    incoming,
                    &ErrorObject::method_not_found(&request.method),
                )?;
            }
            Err(error) => server.respond_error(now, incoming, &error)?,
        }
        Ok(())
    }
}

// ---- The client. ----

fn session(revision: Revision, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut pair = Pair::new(revision)?;
    pair.settle(out)?;
    let peer = pair.client.peer().ok_or("the handshake is incomplete")?;
    writeln!(out, "{} {}, revision {}", peer.info.name, peer.info.version, peer.revision)?;

    let list = pair.client.call(pair.now, &ListTools::new(), CallOptions::default())?;
    for tool in ListToolsResult::decode(&pair.finish(list, out)??)?.tools {
        writeln!(out, "   tool {}: {}", tool.name, tool.description.unwrap_or_default())?;
    }

    let options = CallOptions { progress: true, ..CallOptions::default() };
    let count = pair.client.call(pair.now, &CallTool::new("count"), options)?;
    print_result("count", pair.finish(count, out)?, out)?;

    let greet = pair.client.call(pair.now, &CallTool::new("greet"), CallOptions::default())?;
    print_result("greet", pair.finish(greet, out)?, out)?;

    let sleep = pair.client.call(pair.now, &CallTool::new("sleep"), CallOptions::default())?;
    pair.settle(out)?;
    pair.client.cancel(pair.now, sleep, "the user is impatient")?;
    print_result("sleep", pair.finish(sleep, out)?, out)?;

    let options = CallOptions { timeout: Some(Duration::from_secs(5)), ..CallOptions::default() };
    let sleep = pair.client.call(pair.now, &CallTool::new("sleep"), options)?;
    print_result("sleep", pair.finish(sleep, out)?, out)?;
    writeln!(out, "   {} of virtual time passed", pair.now)?;

    pair.client.close(pair.now);
    pair.server.handle_eof(pair.now);
    pair.settle(out)
}

impl Pair {
    /// Runs until `call` completes, and answers requests of the server in the meantime.
    fn finish(
        &mut self,
        call: CallId,
        out: &mut dyn Write,
    ) -> Result<Result<Raw, CallError>, Box<dyn Error>> {
        loop {
            self.settle(out)?;
            let mut is_idle = true;
            while let Some(event) = self.client.poll_event() {
                is_idle = false;
                match event {
                    client::Event::Completed { call: completed, outcome } if completed == call => {
                        return Ok(outcome);
                    }
                    client::Event::Progress { progress, .. } => {
                        let total = progress.total.unwrap_or_default();
                        writeln!(out, "   progress {} of {total}", progress.progress)?;
                    }
                    client::Event::Request { incoming, request, .. } => {
                        let form: Elicit = request.decode()?;
                        writeln!(out, "   server asks {:?}, user says Ada", form.message)?;
                        let name = ElicitResult::accept(Raw::from_text(r#"{"name":"Ada"}"#)?);
                        self.client.respond(self.now, incoming, &name)?;
                    }
                    client::Event::Closed(why) => return Err(why.to_string().into()),
                    _ => {}
                }
            }
            if is_idle {
                self.skip_to_deadline();
            }
        }
    }
}

fn print_result(
    name: &str,
    outcome: Result<Raw, CallError>,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    match outcome {
        Ok(result) => {
            let result = CallToolResult::decode(&result)?;
            let text = result.content.first().and_then(|content| content.as_text());
            writeln!(out, "   {name}: {}", text.unwrap_or("?"))?;
        }
        Err(error) => writeln!(out, "   {name}: {error}")?,
    }
    Ok(())
}

#[test]
fn both_eras_behave_identically() {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let (legacy, modern) = text.split_at(text.find("counter 1.0.0, revision 2026-07-28").unwrap());
    assert_eq!(legacy.replace("2025-06-18", "2026-07-28"), modern);
    for line in [
        "tool greet: Greets you by name",
        "progress 3 of 3",
        "count: three",
        "server asks \"Who are you?\", user says Ada",
        "greet: Good morning, Ada.",
        "server: cancelled, the user is impatient",
        "sleep: the call was cancelled",
        "sleep: the call timed out (`CallOptions::timeout`)",
        "5.000000000s of virtual time passed",
        "server: closed by the peer",
    ] {
        assert!(modern.contains(line), "{line:?} is missing in\n{modern}");
    }
}

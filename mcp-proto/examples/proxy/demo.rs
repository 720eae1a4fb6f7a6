//! Demonstrates the proxy in one process, with clients and servers of each era.

use std::error::Error;
use std::io::{self, Write};

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{
    CallTool, CallToolResult, Decode, Elicit, ElicitResult, Form, Level, ListRootsResult,
    ListTools, Map, Root, TextField, Tool,
};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Capability, Change, Context, Endpoint, Filter, IncomingId, Instant, Misuse,
    NeededInput, Progress, Raw, Revision, Side,
};

use crate::proxy::Proxy;
use crate::trace::Trace;

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let eras = [Revision::V2025_06_18, Revision::V2026_07_28];
    for (client, server) in eras.into_iter().flat_map(|client| eras.map(|server| (client, server)))
    {
        writeln!(out, "client {client}, server {server}")?;
        for line in session(client, server, Box::new(io::stderr()))? {
            writeln!(out, "   {line}")?;
        }
    }
    Ok(())
}

struct Demo {
    now: Instant,
    client: Stdio<Client>,
    proxy: Proxy,
    server: Stdio<Server>,
    /// The events of the client and the server.
    log: Vec<String>,
}

fn session(
    client: Revision,
    server: Revision,
    trace: Box<dyn Write>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let now = Instant::ZERO;
    let client_config = client::Config::new("demo", "1.0.0")
        .capability(Capability::ElicitationForm)
        .capability(Capability::Roots)
        .revisions(&[client]);
    let server_config = server::Config::new("shop", "1.0.0")
        .capability(Capability::ToolsListChanged)
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::Logging)
        .revisions(&[server]);
    let mut demo = Demo {
        now,
        client: Stdio::new(Client::new(now, client_config)),
        proxy: Proxy::new(Trace::new(trace)),
        server: Stdio::new(Server::new(now, server_config)),
        log: Vec::new(),
    };
    demo.settle()?;
    let options = CallOptions { progress: true, ..CallOptions::default() };
    demo.client.set_log_level(now, Level::Info, CallOptions::default())?;
    demo.client.call(now, &ListTools::new(), CallOptions::default())?;
    demo.settle()?;
    let filter = Filter::new().tools().resource("shop://stock");
    demo.client.subscribe(now, &filter, CallOptions::default())?;
    demo.settle()?;
    demo.client.call(now, &CallTool::new("buy"), options)?;
    demo.settle()?;
    let call = demo.client.call(now, &CallTool::new("ponder"), CallOptions::default())?;
    demo.settle()?;
    demo.client.cancel(now, call, "too slow")?;
    demo.settle()?;
    demo.client.call(now, &CallTool::new("steal"), CallOptions::default())?;
    demo.settle()?;
    demo.client.close(now);
    demo.proxy.handle_eof(now, Side::Client);
    demo.settle()?;
    if demo.proxy.is_closed(Side::Server) {
        demo.server.handle_eof(now);
    }
    demo.settle()?;
    Ok(demo.log)
}

impl Demo {
    /// Exchanges messages until no side has any to send.
    fn settle(&mut self) -> Result<(), Box<dyn Error>> {
        loop {
            while let Some(event) = self.client.poll_event() {
                self.on_client_event(event)?;
            }
            while let Some(event) = self.server.poll_event() {
                self.on_server_event(event)?;
            }
            let (client, server) = (self.client.outbox().len(), self.server.outbox().len());
            let (down, up) =
                (self.proxy.has_output(Side::Client), self.proxy.has_output(Side::Server));
            if client + server == 0 && !down && !up {
                return Ok(());
            }
            self.proxy.handle_input(self.now, Side::Client, self.client.outbox().chunk());
            self.client.outbox().advance(client);
            self.proxy.handle_input(self.now, Side::Server, self.server.outbox().chunk());
            self.server.outbox().advance(server);
            self.proxy.send(Side::Client, |bytes| {
                self.client.handle_input(self.now, bytes);
                Ok(bytes.len())
            })?;
            self.proxy.send(Side::Server, |bytes| {
                self.server.handle_input(self.now, bytes);
                Ok(bytes.len())
            })?;
        }
    }

    fn on_client_event(&mut self, event: client::Event) -> Result<(), Box<dyn Error>> {
        use client::Event;
        let line = match event {
            Event::Ready(peer) => {
                format!("client: connected to {} {}", peer.info.name, peer.info.version)
            }
            Event::Progress { progress, .. } => format!("client: progress {}", progress.progress),
            Event::Notification { method, params, .. } if method == "notifications/message" => {
                let data = params.and_then(|params| params.member("data"));
                format!("client: log {}", data.unwrap_or_else(Raw::empty_object))
            }
            Event::Notification { method, .. } => format!("client: {method}"),
            Event::Request { incoming, request, .. } if request.method == "roots/list" => {
                let home = ListRootsResult::new([Root::new("file:///home")]);
                self.client.respond(self.now, incoming, &home)?;
                "client: asked for roots".into()
            }
            Event::Request { incoming, request, .. } => {
                let answer = ElicitResult::accept(Raw::from_text(r#"{"size":"L"}"#)?);
                self.client.respond(self.now, incoming, &answer)?;
                format!("client: asked {:?}", request.decode::<Elicit>()?.message)
            }
            Event::Completed { outcome: Err(error), .. } => format!("client: {error}"),
            Event::Completed { outcome: Ok(result), .. } if result.member("content").is_some() => {
                let result = CallToolResult::decode(&result)?;
                let text = result.content.first().and_then(|content| content.as_text());
                format!("client: {}", text.unwrap_or("?"))
            }
            // Only modern clients receive the cache lifetime of a result.
            Event::Completed { outcome: Ok(result), .. } if result.member("tools").is_some() => {
                let is_modern = result.member("ttlMs").is_some();
                let lifetime = if is_modern { "with" } else { "without" };
                format!("client: tools, {lifetime} a cache lifetime")
            }
            _ => return Ok(()),
        };
        self.log.push(line);
        Ok(())
    }

    fn on_server_event(&mut self, event: server::Event) -> Result<(), Box<dyn Error>> {
        use server::Event;
        match event {
            Event::Request { incoming, request, context } if request.method == "tools/list" => {
                let schema = Raw::from_text(r#"{"type":"object"}"#)?;
                let mut tools = mcp_proto::catalog::Catalog::new();
                tools.add_tool(Tool::new("buy", schema), ())?;
                if let Ok(mcp_proto::catalog::Resolved::Answer(tools)) =
                    tools.lookup(&request, context.peer.revision)
                {
                    self.server.respond(self.now, incoming, &tools)?;
                }
            }
            Event::Request { incoming, request, context } => {
                match &*request.decode::<CallTool>()?.name {
                    "buy" => self.buy(incoming, &context)?,
                    "ponder" => {}
                    name => {
                        let error =
                            mcp_proto::ErrorObject::invalid_params(format!("no tool `{name}`"));
                        self.server.respond_error(self.now, incoming, &error)?;
                    }
                }
            }
            Event::RequestCancelled { reason, .. } => {
                self.log.push(format!("server: cancelled, {}", reason.unwrap_or_default()));
            }
            Event::Watched { uri, .. } => {
                self.server.notify_changed(self.now, Change::Resource(&uri))?;
                self.server.notify_changed(self.now, Change::Tools)?;
            }
            Event::Closed(why) => self.log.push(format!("server: {why}")),
            _ => {}
        }
        Ok(())
    }

    fn buy(&mut self, incoming: IncomingId, context: &Context) -> Result<(), Misuse> {
        let (now, server) = (self.now, &mut self.server);
        let answer = |key: &str| context.input_responses.as_ref()?.get(key);
        let size = answer("size").and_then(|form| form.member("content")?.member("size"));
        let home =
            answer("home").and_then(|home| home.member("roots")?.elements().next()?.member("uri"));
        let (Some(size), Some(home)) = (size, home) else {
            let form = Form::new(Map::new()).field("size", TextField::new());
            let questions =
                [("home", NeededInput::Roots), ("size", Elicit::form("Which size?", form).into())];
            return server.request_input(now, incoming, &questions, None);
        };
        server.progress(now, incoming, &Progress::new(1.0))?;
        let packed = Raw::new("packed")?;
        server.log(now, Some(incoming), Level::Info, None, &packed)?;
        let sold = CallToolResult::text(format!("size {size} to {home}"));
        server.respond(now, incoming, &sold)
    }
}

#[test]
fn all_eras_work_together() {
    // Earlier revisions have no forms.
    let revisions = [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];
    for client in revisions {
        for server in revisions {
            let log = session(client, server, Box::new(io::sink())).unwrap();
            let wanted = [
                "client: connected to shop 1.0.0",
                if client == Revision::V2026_07_28 {
                    "client: tools, with a cache lifetime"
                } else {
                    "client: tools, without a cache lifetime"
                },
                "client: notifications/resources/updated",
                "client: notifications/tools/list_changed",
                "client: asked for roots",
                "client: asked \"Which size?\"",
                "client: progress 1",
                "client: log \"packed\"",
                "client: size \"L\" to \"file:///home\"",
                "client: the call was cancelled",
                "server: cancelled, too slow",
                "client: no tool `steal` (-32602)",
                // The call of the subscription.
                concat!(
                    "client: the connection ended before the response; ",
                    "the peer may have acted on the request"
                ),
                "server: closed by the peer",
            ];
            assert_eq!(log, wanted, "client {client}, server {server}");
        }
    }
}

//! An editor whose buffer a model reads and changes, over stdin and stdout: the protocol is a
//! machine in the editor's own loop, with no adapter and no runtime.
//!
//! Run it with `cargo run -p mcp-cookbook --example editor_loop`, or let a host start it. It draws
//! on stderr. Two threads move bytes only: a loop that can poll descriptors needs neither.

#![expect(clippy::print_stderr, reason = "the editor draws there")]

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant as Clock};

use bytes::Buf as _;
use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::schema::{
    CallToolResult, Encode, ReadResourceResult, Resource, ResourceContents, Tool,
};
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    Capability, Change, Context, Endpoint as _, ErrorObject, IncomingId, Instant, Progress, Request,
};
use serde_json::json;

const FRAME: Duration = Duration::from_millis(16);
const BUFFER: &str = "editor://buffer";

/// What an entry of the catalog does.
#[derive(PartialEq)]
enum Action {
    Insert,
    Read,
    /// Types one character in each frame, and responds after the last one.
    Type,
}

/// A call of the tool `type` in progress.
struct Typing {
    incoming: IncomingId,
    text: Vec<char>,
    typed: usize,
}

struct Editor {
    text: String,
    entries: Catalog<Action>,
    server: Stdio<Server>,
    typing: Vec<Typing>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (input, (output, writer), began) = (read_stdin(), write_stdout(), Clock::now());
    let mut editor = Editor::new()?;
    while !editor.server.is_closed() || editor.server.outbox().has_remaining() {
        thread::sleep(FRAME); // A real editor waits for keys, and draws.
        editor.frame(Instant::from_elapsed(began.elapsed()), &input, &output);
    }
    drop(output);
    writer.join().map_err(|_| "the writer panicked")??;
    Ok(())
}

impl Editor {
    fn new() -> Result<Self, Box<dyn Error>> {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let insert = Tool::new("insert", text.clone()).description("Appends a text");
        let slowly = Tool::new("type", text).description("Types a text, a character in a frame");
        let read = Tool::new("read", json!({"type": "object"})).description("Reads the buffer");
        let mut entries = Catalog::new();
        entries.add_tool(insert, Action::Insert)?;
        entries.add_tool(slowly, Action::Type)?;
        entries.add_tool(read, Action::Read)?;
        entries.add_resource(Resource::new(BUFFER, "The buffer"), Action::Read)?;
        let config = Config::new("editor", "1.0.0")
            .capabilities(entries.capabilities())
            .capability(Capability::ResourcesSubscribe);
        let server = Stdio::new(Server::new(Instant::ZERO, config));
        Ok(Self { text: String::new(), entries, server, typing: Vec::new() })
    }

    /// Does what is possible without waiting. `poll_timeout` says when the next call is due at the
    /// latest, which a loop without frames needs.
    fn frame(&mut self, now: Instant, input: &Receiver<Vec<u8>>, output: &SyncSender<Vec<u8>>) {
        while self.server.wants_input() {
            match input.try_recv() {
                Ok(bytes) => self.server.handle_input(now, &bytes),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.server.handle_eof(now),
            }
        }
        self.server.handle_timeout(now);
        self.handle_events(now);
        self.go_on_typing(now);
        self.send(output);
    }

    fn handle_events(&mut self, now: Instant) {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Request { incoming, request, context } => {
                    // Fails harmlessly if the client has cancelled the request.
                    let _stale = match self.act(now, incoming, &request, &context) {
                        Ok(Some(result)) => self.server.respond(now, incoming, &*result),
                        Ok(None) => Ok(()),
                        Err(error) => self.server.respond_error(now, incoming, &error),
                    };
                }
                Event::RequestCancelled { incoming, .. } => {
                    self.typing.retain(|typing| typing.incoming != incoming);
                }
                _ => {}
            }
        }
    }

    /// Returns the result of a request; `None` if it is due in a later frame.
    fn act(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Result<Option<Box<dyn Encode>>, ErrorObject> {
        Ok(Some(match self.entries.lookup(request, context.peer.revision)? {
            Resolved::Answer(answer) => Box::new(answer),
            Resolved::Resource { .. } => {
                let contents = ResourceContents::text(BUFFER, &*self.text);
                Box::new(ReadResourceResult::from(contents))
            }
            Resolved::Tool { handler: Action::Read, .. } => {
                Box::new(CallToolResult::text(&*self.text))
            }
            Resolved::Tool { handler, call, .. } => {
                match call.argument("text").map(|it| it.parse()) {
                    Some(Ok::<String, _>(text)) if *handler == Action::Insert => {
                        self.change(now, &text);
                        Box::new(CallToolResult::text("inserted"))
                    }
                    Some(Ok(text)) => {
                        let text = text.chars().collect();
                        self.typing.push(Typing { incoming, text, typed: 0 });
                        return Ok(None);
                    }
                    _ => Box::new(CallToolResult::error("the argument `text` must be a text")),
                }
            }
            _ => return Err(ErrorObject::method_not_found(&request.method)),
        }))
    }

    fn go_on_typing(&mut self, now: Instant) {
        for mut typing in std::mem::take(&mut self.typing) {
            let Some(char) = typing.text.get(typing.typed) else {
                let _stale =
                    self.server.respond(now, typing.incoming, &CallToolResult::text("typed"));
                continue;
            };
            self.change(now, char.encode_utf8(&mut [0; 4]));
            typing.typed += 1;
            let progress = Progress::new(typing.typed as f64).with_total(typing.text.len() as f64);
            let _stale = self.server.progress(now, typing.incoming, &progress);
            self.typing.push(typing);
        }
    }

    fn change(&mut self, now: Instant, added: &str) {
        self.text.push_str(added);
        eprintln!("{:?}", self.text);
        // Fails while the client does not read: it reads the buffer later in any case.
        let _blocked = self.server.notify_changed(now, Change::Resource(BUFFER));
    }

    /// Hands the output to the thread that writes it, as far as it has room.
    fn send(&mut self, output: &SyncSender<Vec<u8>>) {
        let outbox = self.server.outbox();
        while outbox.has_remaining() {
            let chunk = outbox.chunk().to_vec();
            let count = chunk.len();
            match output.try_send(chunk) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => outbox.advance(count),
                Err(TrySendError::Full(_)) => return,
            }
        }
    }
}

fn read_stdin() -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(16);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = io::stdin().read(&mut buffer) {
            if sender.send(buffer.get(..count).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn write_stdout() -> (SyncSender<Vec<u8>>, JoinHandle<io::Result<()>>) {
    let (sender, receiver) = sync_channel::<Vec<u8>>(1);
    let writer = thread::spawn(move || {
        for bytes in receiver {
            io::stdout().write_all(&bytes)?;
            io::stdout().flush()?;
        }
        Ok(())
    });
    (sender, writer)
}

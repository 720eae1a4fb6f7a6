//! [`Serving`]: the requests of one connection and their handlers.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use mcp_proto::schema::Encode;
use mcp_proto::server::Event;
use mcp_proto::{Context, Era, ErrorObject, IncomingId, Raw, Request, Revision, Unencodable};

use crate::link::ServerLink;
use crate::server::entries::Entries;
use crate::server::handler::{Job, respond, respond_error, serve};
use crate::tasks::{TaskSet, poll_tasks};

/// The server side of one connection: turns events into handlers, and runs these.
pub(crate) struct Serving {
    entries: Rc<Entries>,
    link: Rc<dyn ServerLink>,
    tasks: RefCell<TaskSet<IncomingId>>,
}

impl Serving {
    pub(crate) fn new(entries: &Rc<Entries>, link: Rc<dyn ServerLink>) -> Self {
        Self { entries: Rc::clone(entries), link, tasks: RefCell::new(TaskSet::new()) }
    }

    /// Handles an event of the state machine, which must not be borrowed.
    pub(crate) fn on_event(&self, event: Event) {
        match event {
            Event::Request { incoming, request, context } => {
                self.on_request(incoming, request, context);
            }
            Event::RequestCancelled { incoming, .. } => {
                let cancelled = self.tasks.borrow_mut().remove(incoming);
                drop(cancelled);
            }
            Event::Closed(_) => drop(self.tasks.replace(TaskSet::new())),
            _ => {}
        }
    }

    /// Polls the handlers that can continue, and returns whether there were any.
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        poll_tasks(&self.tasks, waker)
    }

    /// Returns whether no handler is running.
    pub(crate) fn is_idle(&self) -> bool {
        self.tasks.borrow().is_empty()
    }

    fn on_request(&self, incoming: IncomingId, request: Request, context: Context) {
        let link = &self.link;
        match self.job(request, context) {
            Ok(Found::Tools(text)) => respond(link, incoming, &ToolList(&text)),
            Ok(Found::Job(job)) => {
                let sealer = self.entries.sealer.clone();
                let task = serve(*job, incoming, Rc::clone(link), sealer);
                self.tasks.borrow_mut().insert(incoming, Box::pin(task));
            }
            Err(error) => respond_error(link, incoming, &error),
        }
    }

    fn job(&self, request: Request, context: Context) -> Result<Found, ErrorObject> {
        let entries = &self.entries;
        if &*request.method == "tools/list" && entries.has_tools() {
            return Ok(Found::Tools(entries.tool_list()));
        }
        let params = request.params.clone().unwrap_or_else(Raw::empty_object);
        let is_tool_call = &*request.method == "tools/call" && entries.has_tools();
        let (handler, params) = if is_tool_call {
            let name = params.member("name").ok_or_else(|| invalid("`name` is missing"))?;
            let name = name.to_text().ok_or_else(|| invalid("`name` is not a string"))?;
            let handler = entries.tool(&name).ok_or_else(|| tool_not_found(&name))?;
            let arguments = params.member("arguments").unwrap_or_else(Raw::empty_object);
            if !arguments.is_object() {
                return Err(invalid("`arguments` is not an object"));
            }
            (handler, arguments)
        } else {
            let handler = entries.method(&request.method);
            (handler.ok_or_else(|| ErrorObject::method_not_found(&request.method))?, params)
        };
        let handler = handler.clone();
        Ok(Found::Job(Box::new(Job { handler, params, request, context, is_tool_call })))
    }
}

/// How a request is served.
enum Found {
    Job(Box<Job>),
    /// The tools as a JSON array.
    Tools(Rc<str>),
}

fn invalid(why: &str) -> ErrorObject {
    ErrorObject::invalid_params(why)
}

/// The longest name that an error repeats, in characters.
const NAME_CHARS_MAX: usize = 64;

/// Creates the error for an unknown tool.
fn tool_not_found(name: &str) -> ErrorObject {
    let start: String = name.chars().take(NAME_CHARS_MAX).collect();
    ErrorObject::invalid_params(format!("unknown tool {start:?}"))
}

/// A `tools/list` result with all tools.
struct ToolList<'a>(&'a str);

impl Encode for ToolList<'_> {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(br#"{"tools":"#);
        out.extend_from_slice(self.0.as_bytes());
        // Modern results say how long they may be cached.
        if revision.era() == Era::Modern {
            out.extend_from_slice(br#","ttlMs":0,"cacheScope":"private""#);
        }
        out.push(b'}');
        Ok(())
    }
}

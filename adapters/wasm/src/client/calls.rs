//! [`Calls`]: the calls of one connection, and the requests of its server.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::task::Waker;

use mcp_proto::client::Event;
use mcp_proto::schema::Encode;
use mcp_proto::{
    CallError, CallId, CloseReason, ErrorObject, IncomingId, Misuse, Progress, Raw, Request,
};

use crate::link::ClientLink;
use crate::platform::LocalBoxFuture;
use crate::tasks::{TaskSet, poll_tasks};

/// The handler of a request of the server.
pub(crate) type Answer =
    Rc<dyn Fn(Raw) -> LocalBoxFuture<'static, Result<Box<dyn Encode>, ErrorObject>>>;

/// Receives the method and the params of a notification.
type OnNotification = Rc<dyn Fn(&str, Option<&Raw>)>;

/// The handlers of a client.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) requests: Vec<(Box<str>, Answer)>,
    pub(crate) notification: Option<OnNotification>,
}

/// The most unread progress notifications that a call queues. Older ones are dropped.
const PROGRESS_MAX: usize = 256;

/// The state of a call until its result is taken.
#[derive(Default)]
pub(crate) struct CallSlot {
    pub(crate) outcome: Option<Result<Raw, CallError>>,
    pub(crate) progress: VecDeque<Progress>,
    pub(crate) waker: Option<Waker>,
}

/// The client side of one connection.
pub(crate) struct Calls {
    pub(crate) link: Rc<dyn ClientLink>,
    handlers: Handlers,
    pub(crate) slots: RefCell<BTreeMap<CallId, CallSlot>>,
    tasks: RefCell<TaskSet<IncomingId>>,
    state: RefCell<OpenState>,
}

/// Whether the connection is open, and the tasks that wait for a change.
#[derive(Default)]
struct OpenState {
    is_ready: bool,
    closed: Option<CloseReason>,
    waiting: Vec<Waker>,
}

impl OpenState {
    /// Wakes a task at the next change. A task that waits again is kept once.
    fn wake_later(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl Calls {
    pub(crate) fn new(link: Rc<dyn ClientLink>, handlers: Handlers) -> Self {
        Self {
            link,
            handlers,
            slots: RefCell::default(),
            tasks: RefCell::new(TaskSet::new()),
            state: RefCell::default(),
        }
    }

    /// Handles an event of the state machine, which must not be borrowed.
    pub(crate) fn on_event(&self, event: Event) {
        match event {
            Event::Ready(_) => self.change(|state| state.is_ready = true),
            Event::Closed(why) => {
                drop(self.tasks.replace(TaskSet::new()));
                self.change(|state| state.closed = Some(why));
            }
            Event::Completed { call, outcome } => {
                self.update(call, |slot| slot.outcome = Some(outcome));
            }
            Event::Progress { call, progress } => self.update(call, |slot| {
                if slot.progress.len() == PROGRESS_MAX {
                    slot.progress.pop_front();
                }
                slot.progress.push_back(progress);
            }),
            Event::Request { incoming, request, .. } => self.on_request(incoming, request),
            Event::RequestCancelled { incoming, .. } => {
                let cancelled = self.tasks.borrow_mut().remove(incoming);
                drop(cancelled);
            }
            Event::Notification { method, params, .. } => {
                if let Some(callback) = &self.handlers.notification {
                    callback(&method, params.as_ref());
                }
            }
            _ => {}
        }
    }

    /// Polls the handlers that can continue, and returns whether there were any.
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        poll_tasks(&self.tasks, waker)
    }

    fn on_request(&self, incoming: IncomingId, request: Request) {
        let handler = self.handlers.requests.iter().find(|(known, _)| **known == *request.method);
        let Some((_, handler)) = handler else {
            let error = ErrorObject::method_not_found(&request.method);
            return self.link.command(&mut |client, now| {
                let _gone = client.respond_error(now, incoming, &error);
            });
        };
        let (handler, link) = (Rc::clone(handler), Rc::clone(&self.link));
        let task = async move {
            let answer = handler(request.params.unwrap_or_else(Raw::empty_object)).await;
            link.command(&mut |client, now| {
                let sent = match &answer {
                    Ok(result) => client.respond(now, incoming, &**result),
                    Err(error) => client.respond_error(now, incoming, error),
                };
                if sent == Err(Misuse::Unencodable) {
                    let error = ErrorObject::internal("the result cannot be encoded");
                    let _gone = client.respond_error(now, incoming, &error);
                }
            });
        };
        self.tasks.borrow_mut().insert(incoming, Box::pin(task));
    }

    fn update(&self, call: CallId, update: impl FnOnce(&mut CallSlot)) {
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.get_mut(&call) else { return };
        update(slot);
        let waker = slot.waker.take();
        drop(slots);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn change(&self, change: impl FnOnce(&mut OpenState)) {
        let mut state = self.state.borrow_mut();
        change(&mut state);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Returns the reason why the connection is closed, or `Ok` once it is ready; `None` before.
    pub(crate) fn poll_opened(&self, waker: &Waker) -> Option<Result<(), CloseReason>> {
        let mut state = self.state.borrow_mut();
        match &state.closed {
            Some(why) => Some(Err(why.clone())),
            None if state.is_ready => Some(Ok(())),
            None => {
                state.wake_later(waker);
                None
            }
        }
    }

    /// Returns why the connection closed, or `None` while it is open.
    pub(crate) fn poll_closed(&self, waker: &Waker) -> Option<CloseReason> {
        let mut state = self.state.borrow_mut();
        if state.closed.is_none() {
            state.wake_later(waker);
        }
        state.closed.clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.borrow().closed.is_some()
    }
}

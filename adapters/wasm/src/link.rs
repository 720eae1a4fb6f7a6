//! [`Link`]: a protocol state machine shared by its driver and the application.

use std::cell::RefCell;
use std::ops::DerefMut;
use std::rc::Rc;
use std::task::Waker;

use mcp_proto::{Instant, client, server};

use crate::platform::Platform;

/// A state machine, the host that it runs on, and the tasks that drive it.
pub(crate) struct Link<T> {
    pub(crate) machine: RefCell<T>,
    pub(crate) platform: Rc<dyn Platform>,
    drivers: RefCell<Vec<(u64, Waker)>>,
}

impl<T> Link<T> {
    pub(crate) fn new(platform: &Rc<dyn Platform>, machine: T) -> Self {
        Self {
            machine: RefCell::new(machine),
            platform: Rc::clone(platform),
            drivers: RefCell::default(),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.platform.now()
    }

    /// Makes `waker` be woken when the application has used the machine, until `key` is removed.
    pub(crate) fn set_driver(&self, key: u64, waker: &Waker) {
        let mut drivers = self.drivers.borrow_mut();
        match drivers.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.clone_from(waker),
            None => drivers.push((key, waker.clone())),
        }
    }

    /// Removes a driver and wakes the others, one of which then runs the handlers.
    #[cfg(feature = "http")]
    pub(crate) fn remove_driver(&self, key: u64) {
        self.drivers.borrow_mut().retain(|(known, _)| *known != key);
        self.wake();
    }

    pub(crate) fn wake(&self) {
        let drivers: Vec<Waker> =
            self.drivers.borrow().iter().map(|(_, waker)| waker.clone()).collect();
        drivers.iter().for_each(Waker::wake_by_ref);
    }
}

/// The server of a connection, whatever carries its messages.
pub(crate) trait ServerLink {
    /// Runs `command` with the state machine, and wakes its driver.
    fn command(&self, command: &mut dyn FnMut(&mut server::Server, Instant));

    fn platform(&self) -> &Rc<dyn Platform>;
}

impl<T: DerefMut<Target = server::Server>> ServerLink for Link<T> {
    fn command(&self, command: &mut dyn FnMut(&mut server::Server, Instant)) {
        let now = self.now();
        command(&mut self.machine.borrow_mut(), now);
        self.wake();
    }

    fn platform(&self) -> &Rc<dyn Platform> {
        &self.platform
    }
}

/// The client of a connection, whatever carries its messages.
pub(crate) trait ClientLink {
    /// Runs `command` with the state machine, and wakes its driver.
    fn command(&self, command: &mut dyn FnMut(&mut client::Client, Instant));

    /// Closes the connection.
    fn close(&self);

    fn platform(&self) -> &Rc<dyn Platform>;
}

impl ClientLink for Link<mcp_proto::stdio::Stdio<client::Client>> {
    fn command(&self, command: &mut dyn FnMut(&mut client::Client, Instant)) {
        let now = self.now();
        command(&mut self.machine.borrow_mut(), now);
        self.wake();
    }

    fn close(&self) {
        self.command(&mut |machine, now| machine.close(now));
    }

    fn platform(&self) -> &Rc<dyn Platform> {
        &self.platform
    }
}

#[cfg(feature = "http")]
impl ClientLink for Link<mcp_proto::http::client::HttpClient> {
    fn command(&self, command: &mut dyn FnMut(&mut client::Client, Instant)) {
        let now = self.now();
        command(&mut self.machine.borrow_mut(), now);
        self.wake();
    }

    // Also ends the session.
    fn close(&self) {
        let now = self.now();
        self.machine.borrow_mut().close(now);
        self.wake();
    }

    fn platform(&self) -> &Rc<dyn Platform> {
        &self.platform
    }
}

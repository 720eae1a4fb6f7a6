//! [`check_driver`]: a conformance kit for event loops.

mod machine;
mod report;
mod rules;
mod scenario;
mod stream;

use alloc::format;
use alloc::string::String;
use core::time::Duration;

pub use machine::DriverMachine;
pub use report::{DriverFault, DriverReport, WakeReason};
use rules::{broken_rule, ready};
use scenario::Action;
pub use stream::{DriverStream, DriverWait};

use crate::endpoint::Endpoint;
use crate::time::Instant;

/// An event loop under test: it drives a [`DriverMachine`] on a [`DriverStream`].
pub trait Driver {
    /// Does all the work that is possible without waiting, as after the return of `poll(2)`, and
    /// returns what to wait for.
    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait;

    /// Passes the machine and the stream of the loop to `visit`, and returns its result.
    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T;
}

/// Checks an event loop, in virtual time.
///
/// The driver is woken only for what it waits for, while its peer sends, pauses, stops reading,
/// reads in small steps and closes. Checked are: every byte in both directions once and in order,
/// the deadlines, [`wants_input`](Endpoint::wants_input), the end of the input, and the events and
/// the output left behind after each wake. One run takes less than two seconds of virtual time.
///
/// # Errors
/// Fails with the first rule that the driver breaks.
///
/// ```
/// use mcp_proto::testing::{Driver, DriverMachine, DriverStream, DriverWait, WakeReason};
/// use mcp_proto::testing::check_driver;
/// use mcp_proto::{Endpoint, Instant, RoleEndpoint};
///
/// struct Loop {
///     machine: DriverMachine,
///     stream: DriverStream,
///     is_ended: bool,
/// }
///
/// impl Driver for Loop {
///     fn visit<T>(
///         &mut self,
///         visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T,
///     ) -> T {
///         visit(&mut self.machine, &mut self.stream)
///     }
///
///     fn wake(&mut self, now: Instant, _: WakeReason) -> DriverWait {
///         self.machine.handle_timeout(now);
///         let mut buffer = [0; 256];
///         while !self.is_ended && self.machine.wants_input() {
///             match self.stream.read(&mut buffer) {
///                 None => break,
///                 Some(0) => {
///                     self.is_ended = true;
///                     self.machine.handle_eof(now);
///                 }
///                 Some(count) => self.machine.handle_input(now, &buffer[..count]),
///             }
///             while let Some(event) = self.machine.poll_event() {
///                 self.machine.handle_event(now, event);
///             }
///         }
///         while let Some(event) = self.machine.poll_event() {
///             self.machine.handle_event(now, event);
///         }
///         while let Some(count) = self.stream.write(self.machine.outbox().chunk()) {
///             if count == 0 {
///                 break;
///             }
///             self.machine.outbox().advance(count);
///         }
///         let wait = DriverWait::of(&mut self.machine);
///         DriverWait { input: wait.input && !self.is_ended, ..wait }
///     }
/// }
///
/// let (machine, stream) = (DriverMachine::new(), DriverStream::new());
/// check_driver(Loop { machine, stream, is_ended: false }).unwrap();
/// ```
pub fn check_driver(driver: impl Driver) -> Result<(), DriverReport> {
    let mut judge = Judge::new(driver);
    judge.wake(WakeReason::Start)?;
    for (pause, action) in scenario::actions() {
        judge.run_for(Duration::from_millis(pause))?;
        judge.perform(action);
        judge.run_for(Duration::ZERO)?;
    }
    judge.check_end()
}

/// Wakes without effect at one time, after which a driver is in a busy loop.
const IDLE_WAKES_MAX: usize = 8;

struct Judge<D> {
    driver: D,
    now: Instant,
    wake: usize,
    reason: WakeReason,
    wait: DriverWait,
    /// Wakes without effect since the time has advanced.
    idle_wakes: usize,
}

impl<D: Driver> Judge<D> {
    fn new(driver: D) -> Self {
        let (now, reason, wait) = (Instant::ZERO, WakeReason::Start, DriverWait::default());
        Self { driver, now, wake: 0, reason, wait, idle_wakes: 0 }
    }

    /// Wakes the driver for everything that is due within `pause`, and advances the time by it.
    fn run_for(&mut self, pause: Duration) -> Result<(), DriverReport> {
        let end = self.now + pause;
        loop {
            while let Some(reason) = self.ready() {
                self.wake(reason)?;
            }
            let next = self.wait.deadline.filter(|at| *at <= end);
            let at = next.unwrap_or(end);
            let due = self.driver.visit(|machine, _| machine.poll_timeout());
            if let Some(due) = due.filter(|due| *due < at || (*due == at && next.is_none())) {
                self.now = due;
                return self.fail(
                    DriverFault::IgnoredDeadline,
                    match self.wait.deadline {
                        Some(wait) => format!("the driver waits until {wait}, not until {due}"),
                        None => format!("the driver has no deadline, but the machine has {due}"),
                    },
                );
            }
            self.idle_wakes = if at > self.now { 0 } else { self.idle_wakes };
            self.now = self.now.max(at);
            if next.is_none() {
                return Ok(());
            }
            self.wake(WakeReason::Deadline)?;
        }
    }

    fn ready(&mut self) -> Option<WakeReason> {
        let wait = self.wait;
        self.driver.visit(|machine, stream| ready(machine, stream, wait))
    }

    fn perform(&mut self, action: Action) {
        self.driver.visit(|_, stream| match action {
            Action::Close => stream.is_shut = true,
            Action::Read(bytes) => stream.room = bytes,
            Action::Send(text) => stream.input.extend_from_slice(text.as_bytes()),
        });
    }

    fn wake(&mut self, reason: WakeReason) -> Result<(), DriverReport> {
        let now = self.now;
        (self.wake, self.reason) = (self.wake + 1, reason);
        let before = self.driver.visit(|machine, stream| {
            machine.now = now;
            machine.progress + stream.written.len()
        });
        self.wait = self.driver.wake(now, reason);
        let wait = self.wait;
        let (after, broken) = self.driver.visit(|machine, stream| {
            (machine.progress + stream.written.len(), broken_rule(machine, stream, wait))
        });
        if let Some((fault, detail)) = broken {
            return self.fail(fault, detail);
        }
        let is_idle = before == after && reason != WakeReason::Start;
        self.idle_wakes = if is_idle { self.idle_wakes + 1 } else { 0 };
        if self.idle_wakes < IDLE_WAKES_MAX {
            return Ok(());
        }
        let detail = format!("{IDLE_WAKES_MAX} wakes without effect, now for {wait:?}");
        self.fail(DriverFault::BusyLoop, detail)
    }

    /// Checks that everything was passed on at the end.
    fn check_end(mut self) -> Result<(), DriverReport> {
        let (is_closed, missing) = self.driver.visit(|machine, stream| {
            (machine.is_closed(), machine.produced.len().saturating_sub(stream.written.len()))
        });
        if !is_closed {
            return self.fail(DriverFault::NoEof, "the connection is still open at the end".into());
        }
        if missing > 0 {
            let detail = format!("{missing} bytes of output are not written at the end");
            return self.fail(DriverFault::LostOutput, detail);
        }
        Ok(())
    }

    fn fail(&self, fault: DriverFault, detail: String) -> Result<(), DriverReport> {
        let Self { now: at, wake, reason, .. } = *self;
        Err(DriverReport { fault, at, wake, reason, detail })
    }
}

#[cfg(test)]
mod tests;

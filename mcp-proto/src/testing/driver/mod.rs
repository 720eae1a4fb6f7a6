//! [`check_driver`]: a conformance kit for event loops.

mod machine;
mod report;
mod scenario;

use alloc::format;

pub use machine::{DriverMachine, DriverStream};
pub use report::{DriverFault, DriverReport, WakeReason};
use scenario::Action;

use crate::endpoint::Endpoint;
use crate::time::Instant;

/// An event loop under test: it drives a [`DriverMachine`] on a [`DriverStream`].
pub trait Driver {
    /// Returns the machine that the loop drives.
    fn machine(&mut self) -> &mut DriverMachine;

    /// Does all the work that is possible without waiting, as after the return of `poll(2)`, and
    /// returns what to wait for.
    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait;
}

/// What a driver waits for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DriverWait {
    /// Wake the driver when the stream has input.
    pub input: bool,
    /// Wake the driver when the stream has room.
    pub output: bool,
    /// Wake the driver at this time at the latest.
    pub deadline: Option<Instant>,
}

impl DriverWait {
    /// Returns what a driver of `machine` has to wait for.
    pub fn of(machine: &mut impl Endpoint) -> Self {
        Self {
            input: machine.wants_input(),
            output: !machine.outbox().is_empty(),
            deadline: machine.poll_timeout(),
        }
    }
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
/// use mcp_proto::{Endpoint, Instant};
///
/// struct Loop {
///     machine: DriverMachine,
///     stream: DriverStream,
///     is_ended: bool,
/// }
///
/// impl Driver for Loop {
///     fn machine(&mut self) -> &mut DriverMachine {
///         &mut self.machine
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
/// let machine = DriverMachine::new();
/// let stream = machine.stream();
/// check_driver(Loop { machine, stream, is_ended: false }).unwrap();
/// ```
pub fn check_driver(driver: impl Driver) -> Result<(), DriverReport> {
    let mut judge = Judge { driver, wait: DriverWait::default(), idle_wakes: 0 };
    judge.wake(WakeReason::Start)?;
    let mut now = Instant::ZERO;
    for (pause, action) in scenario::actions() {
        now += core::time::Duration::from_millis(pause);
        judge.run_until(now)?;
        judge.perform(action);
        judge.run_until(now)?;
    }
    judge.check_end()
}

/// Wakes without effect at one time, after which a driver is in a busy loop.
const IDLE_WAKES_MAX: usize = 8;

struct Judge<D> {
    driver: D,
    wait: DriverWait,
    /// Wakes without effect since the time has advanced.
    idle_wakes: usize,
}

impl<D: Driver> Judge<D> {
    /// Wakes the driver for everything that is due until `end`, and advances the time to it.
    fn run_until(&mut self, end: Instant) -> Result<(), DriverReport> {
        loop {
            while let Some(reason) = self.ready() {
                self.wake(reason)?;
            }
            let due = self.driver.machine().poll_timeout();
            let mut observed = self.driver.machine().observed().borrow_mut();
            let next = self.wait.deadline.filter(|at| *at <= end);
            let at = next.unwrap_or(end);
            if let Some(due) = due.filter(|due| *due < at || (*due == at && next.is_none())) {
                observed.now = due;
                let wait = self.wait.deadline;
                let detail = match wait {
                    Some(wait) => format!("the driver waits until {wait}, not until {due}"),
                    None => format!("the driver has no deadline, but the machine has {due}"),
                };
                observed.fault(DriverFault::IgnoredDeadline, detail);
                return observed.report.clone().map_or(Ok(()), Err);
            }
            self.idle_wakes = if at > observed.now { 0 } else { self.idle_wakes };
            observed.now = at;
            drop(observed);
            if next.is_none() {
                return Ok(());
            }
            self.wake(WakeReason::Deadline)?;
        }
    }

    /// Returns why the driver has to be woken now.
    fn ready(&mut self) -> Option<WakeReason> {
        let observed = self.driver.machine().observed().borrow();
        let has_input =
            observed.read < observed.input.len() || (observed.is_shut && !observed.is_end_passed);
        if self.wait.input && has_input {
            return Some(WakeReason::Input);
        }
        (self.wait.output && observed.room > 0).then_some(WakeReason::Output)
    }

    fn perform(&mut self, action: Action) {
        let mut observed = self.driver.machine().observed().borrow_mut();
        match action {
            Action::Close => observed.is_shut = true,
            Action::Read(bytes) => observed.room = bytes,
            Action::Send(text) => observed.input.extend_from_slice(text.as_bytes()),
        }
    }

    fn wake(&mut self, reason: WakeReason) -> Result<(), DriverReport> {
        let mut observed = self.driver.machine().observed().borrow_mut();
        observed.wake += 1;
        observed.reason = reason;
        let (now, progress) = (observed.now, observed.progress);
        drop(observed);
        self.wait = self.driver.wake(now, reason);
        let wait = self.wait;
        let machine = self.driver.machine();
        let is_left = !machine.outbox().is_empty() && !wait.output;
        machine.check_rest();
        let wants_input = machine.wants_input() && !machine.is_closed();
        let mut observed = machine.observed().borrow_mut();
        if is_left {
            let detail = "the outbox is not empty, and the driver does not wait for room";
            observed.fault(DriverFault::LeftOutput, detail.into());
        }
        if wants_input && !wait.input && !observed.is_end_passed {
            let detail = "`wants_input` is true, and the driver does not wait for input";
            observed.fault(DriverFault::NotReading, detail.into());
        }
        let is_idle = observed.progress == progress && reason != WakeReason::Start;
        self.idle_wakes = if is_idle { self.idle_wakes + 1 } else { 0 };
        if self.idle_wakes >= IDLE_WAKES_MAX {
            let count = self.idle_wakes;
            let detail = format!("{count} wakes without effect, now for {wait:?}");
            observed.fault(DriverFault::BusyLoop, detail);
        }
        observed.report.clone().map_or(Ok(()), Err)
    }

    /// Checks that everything was passed on at the end.
    fn check_end(mut self) -> Result<(), DriverReport> {
        let machine = self.driver.machine();
        let is_closed = machine.is_closed();
        let mut observed = machine.observed().borrow_mut();
        if !is_closed {
            observed.fault(DriverFault::NoEof, "the connection is still open at the end".into());
        }
        if observed.written < observed.produced.len() {
            let missing = observed.produced.len() - observed.written;
            let detail = format!("{missing} bytes of output are not written at the end");
            observed.fault(DriverFault::LostOutput, detail);
        }
        observed.report.clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests;

//! Drivers with planted bugs, each of which the kit finds.

use alloc::string::ToString;

use super::*;
use crate::endpoint::RoleEndpoint as _;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bug {
    BusyLoop,
    DoubledByte,
    DoubledInput,
    EarlyClock,
    EarlyOutput,
    Hold,
    IgnoredDeadline,
    LateEvents,
    LeftOutput,
    LostByte,
    LostInput,
    LostWakeAtDeadline,
    NoEof,
    None,
    UnwantedRead,
}

struct Loop {
    machine: DriverMachine,
    stream: DriverStream,
    bug: Bug,
    is_ended: bool,
    wakes: usize,
}

impl Loop {
    fn new(bug: Bug) -> Self {
        let (machine, stream) = (DriverMachine::new(), DriverStream::new());
        Self { machine, stream, bug, is_ended: false, wakes: 0 }
    }

    fn read(&mut self, now: Instant) {
        let mut buffer = [0; 300];
        while !self.is_ended && (self.machine.wants_input() || self.bug == Bug::UnwantedRead) {
            match self.stream.read(&mut buffer) {
                None => break,
                Some(0) => {
                    self.is_ended = true;
                    if self.bug != Bug::NoEof {
                        self.machine.handle_eof(now);
                    }
                }
                Some(count) => {
                    let start = usize::from(self.bug == Bug::LostInput && count > 50);
                    self.machine.handle_input(now, &buffer[start..count]);
                    if self.bug == Bug::DoubledInput {
                        self.machine.handle_input(now, &buffer[count - 1..count]);
                    }
                }
            }
            self.handle_events(now);
        }
    }

    fn handle_events(&mut self, now: Instant) {
        if self.bug == Bug::LateEvents && self.wakes.is_multiple_of(2) {
            return;
        }
        while let Some(event) = self.machine.poll_event() {
            self.machine.handle_event(now, event);
        }
    }

    fn write(&mut self) {
        while !self.machine.outbox().is_empty() {
            let output = self.machine.outbox().chunk().to_vec();
            let Some(count) = self.stream.write(&output) else { break };
            let advanced = match self.bug {
                Bug::DoubledByte => count.saturating_sub(1).max(1),
                Bug::LostByte => (count + 1).min(output.len()),
                _ => count,
            };
            self.machine.outbox().advance(advanced);
        }
    }
}

impl Driver for Loop {
    fn visit<T>(&mut self, visit: impl FnOnce(&mut DriverMachine, &mut DriverStream) -> T) -> T {
        visit(&mut self.machine, &mut self.stream)
    }

    fn wake(&mut self, now: Instant, reason: WakeReason) -> DriverWait {
        self.wakes += 1;
        match self.bug {
            Bug::EarlyClock => self.machine.handle_timeout(now + Duration::from_secs(1)),
            Bug::LostWakeAtDeadline => {}
            _ => self.machine.handle_timeout(now),
        }
        if self.bug == Bug::EarlyOutput && reason == WakeReason::Input {
            let pong = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n";
            let _written = self.stream.write(pong);
        }
        self.read(now);
        self.handle_events(now);
        self.write();
        let mut wait = DriverWait::of(&mut self.machine);
        wait.input &= !self.is_ended;
        match self.bug {
            Bug::BusyLoop => wait.output = true,
            Bug::Hold => wait.input &= now < Instant::from_millis(1300),
            Bug::IgnoredDeadline => wait.deadline = None,
            Bug::LeftOutput => wait.output = false,
            _ => {}
        }
        wait
    }
}

#[test]
fn a_correct_driver_passes() {
    check_driver(Loop::new(Bug::None)).unwrap();
}

#[test]
fn each_planted_bug_is_found_and_explained() {
    let planted = [
        (Bug::BusyLoop, DriverFault::BusyLoop, "8 wakes without effect"),
        (Bug::DoubledByte, DriverFault::DoubledOutput, "1 bytes before byte"),
        (Bug::DoubledInput, DriverFault::DoubledInput, "1 bytes before byte 40 came again"),
        (Bug::EarlyClock, DriverFault::EarlyOutput, "was passed as the current time"),
        (Bug::EarlyOutput, DriverFault::EarlyOutput, "has not produced the bytes after byte 0"),
        (Bug::Hold, DriverFault::NotReading, "does not wait for input"),
        (Bug::IgnoredDeadline, DriverFault::IgnoredDeadline, "the driver has no deadline"),
        (Bug::LateEvents, DriverFault::LateEvents, "events were left in the queue"),
        (Bug::LeftOutput, DriverFault::LeftOutput, "does not wait for room"),
        (Bug::LostByte, DriverFault::LostOutput, "were skipped"),
        (Bug::LostInput, DriverFault::LostInput, "1 bytes from byte 40 were not passed"),
        (Bug::LostWakeAtDeadline, DriverFault::IgnoredDeadline, "`handle_timeout` was due"),
        (Bug::NoEof, DriverFault::NoEof, "the end of the input was read"),
        (Bug::UnwantedRead, DriverFault::UnwantedInput, "bytes were passed to the machine"),
    ];
    for (bug, fault, detail) in planted {
        let Err(report) = check_driver(Loop::new(bug)) else { panic!("{bug:?} was not found") };
        assert_eq!(report.fault, fault, "{bug:?}: {report}");
        let text = report.to_string();
        assert!(text.contains(detail) && text.contains(fault.remedy()), "{bug:?}: {text}");
        assert!(report.wake > 0 && text.contains(" at ") && text.contains("wake "), "{text}");
    }
}

#[test]
fn the_peer_makes_the_machine_hold_and_release_its_input() {
    let mut judge = Judge::new(Loop::new(Bug::None));
    judge.wake(WakeReason::Start).unwrap();
    let mut held = 0;
    for (pause, action) in scenario::actions() {
        judge.run_for(Duration::from_millis(pause)).unwrap();
        judge.perform(action);
        judge.run_for(Duration::ZERO).unwrap();
        held += usize::from(!judge.driver.machine.wants_input());
    }
    let Loop { machine, stream, .. } = judge.driver;
    assert!(held > 100 && stream.unread().is_empty() && machine.is_end_passed);
}

//! Drives a connection on the executor embassy, over any serial port of `embedded-io-async`.
//!
//! This code also runs on a microcontroller: `embassy-time` and the port come from its board
//! support. The test runs a client and a server on the executor's port to `std`.

#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::future::pending;
use core::time::Duration;

use embassy_futures::select::{Either3, select3};
use embassy_time::Timer;
use embedded_io_async::{Read, Write};
use mcp_proto::{Instant, RoleEndpoint};

/// Returns the current time of embassy's clock.
#[must_use]
pub fn now() -> Instant {
    Instant::ZERO + Duration::from_micros(embassy_time::Instant::now().as_micros())
}

/// Passes bytes, time and events until the connection is closed and its output is written, or the
/// port fails.
pub async fn drive<E: RoleEndpoint>(
    machine: &mut E,
    mut input: impl Read,
    mut output: impl Write,
    mut on_event: impl FnMut(&mut E, E::Event),
) {
    // A port delivers a few bytes at a time: `Limits::input_bytes_max` of `Limits::small()`.
    let (mut bytes, mut chunk, mut written) = ([0; 8], Vec::new(), 0);
    loop {
        while let Some(event) = machine.poll_event() {
            on_event(machine, event);
        }
        if written == chunk.len() {
            machine.outbox().take_all(&mut chunk);
            written = 0;
        }
        let unwritten = chunk.get(written..).unwrap_or_default();
        if machine.is_closed() && unwritten.is_empty() {
            return;
        }
        let (wants_input, deadline) = (machine.wants_input(), machine.poll_timeout());
        let read =
            async { if wants_input { input.read(&mut bytes).await } else { pending().await } };
        let write = async {
            if unwritten.is_empty() { pending().await } else { output.write(unwritten).await }
        };
        let wait = async {
            let Some(deadline) = deadline else { return pending().await };
            let deadline = deadline.duration_since(Instant::ZERO).as_micros();
            Timer::at(embassy_time::Instant::from_micros(deadline as u64)).await;
        };
        match select3(read, write, wait).await {
            Either3::First(Ok(count)) if count > 0 => {
                machine.handle_input(now(), bytes.get(..count).unwrap_or_default());
            }
            Either3::First(_) => machine.handle_eof(now()),
            Either3::Second(Ok(count)) => {
                machine.outbox().mark_written(count);
                written += count;
            }
            Either3::Second(Err(_)) => return,
            Either3::Third(()) => machine.handle_timeout(now()),
        }
    }
}

//! Links and runs the core in a program without `std`: a server, a client, or one after the other.
//!
//! The program defines a panic handler and an allocator. If the core or one of its dependencies
//! linked `std` after all, there would be two panic handlers and the build would fail.
//!
//! On a device without an operating system, messages arrive at the serial port of QEMU's machine
//! `mps2-an386`, a Cortex-M4; elsewhere, on stdin and stdout. `benches/RESULTS.md` has the sizes.

#![no_std]
#![no_main]

#[cfg(feature = "plant-std")]
extern crate std;

extern crate alloc;

mod heap;
#[cfg_attr(target_os = "none", path = "device.rs")]
#[cfg_attr(not(target_os = "none"), path = "host.rs")]
mod port;

use alloc::vec::Vec;
use core::panic::PanicInfo;

use mcp_proto::stdio::Stdio;
use mcp_proto::{Instant, Limits, RoleEndpoint};

/// The program has no clock, so that timeouts never pass.
const NOW: Instant = Instant::ZERO;

/// Passes input and output until the connection is closed and all output is written.
fn run<E: RoleEndpoint>(mut machine: E, mut on_event: impl FnMut(&mut E, E::Event)) {
    let (mut input, mut output) = ([0; 8], Vec::new());
    loop {
        while let Some(event) = machine.poll_event() {
            on_event(&mut machine, event);
        }
        machine.outbox().take_all(&mut output);
        port::write(&output);
        if machine.is_closed() {
            return;
        }
        let count = port::read(&mut input);
        match input.get(..count) {
            Some(read) if !read.is_empty() => machine.handle_input(NOW, read),
            _ => machine.handle_eof(NOW),
        }
    }
}

#[cfg(feature = "server")]
fn serve() {
    use mcp_proto::server::{Config, Event, Server};
    use mcp_proto::{Capability, ErrorObject, Raw};

    let config = Config::new("lamp", "1.0.0").capability(Capability::Tools).limits(Limits::small());
    run(Stdio::new(Server::new(NOW, config)), |server, event| {
        let Event::Request { incoming, request, .. } = event else { return };
        let result = match &*request.method {
            "tools/list" => r#"{"tools":[{"name":"toggle","inputSchema":{"type":"object"}}]}"#,
            "tools/call" => r#"{"content":[{"type":"text","text":"toggled"}]}"#,
            _ => {
                let error = ErrorObject::method_not_found(&request.method);
                let _is_cancelled = server.respond_error(NOW, incoming, &error);
                return;
            }
        };
        if let Ok(result) = Raw::from_text(result) {
            let _is_cancelled = server.respond(NOW, incoming, &result);
        }
    });
}

#[cfg(feature = "client")]
fn ask() {
    use mcp_proto::CallOptions;
    use mcp_proto::client::{Client, Config, Event};

    let config = Config::new("button", "1.0.0").limits(Limits::small());
    run(Stdio::new(Client::new(NOW, config)), |client, event| match event {
        Event::Ready(_) => {
            let _is_full = client.call_raw(NOW, "tools/list", None, CallOptions::default());
        }
        Event::Completed { .. } => client.close(NOW),
        _ => {}
    });
}

/// Runs the program; called by the startup code of the host or by `port::reset`, which must not
/// contain its code: no floating-point register may be saved before the unit is on.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    #[cfg(feature = "server")]
    serve();
    #[cfg(feature = "client")]
    ask();
    0
}

#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

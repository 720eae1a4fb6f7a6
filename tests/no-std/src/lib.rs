//! Links the core into a program without `std`.
//!
//! The program defines a panic handler and an allocator. If the core or one of its dependencies
//! linked `std` after all, there would be two panic handlers and the build would fail.

#![no_std]

#[cfg(feature = "plant-std")]
extern crate std;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Endpoint, Instant, MessageEndpoint};

/// Runs a client and a server against each other, so that the core is linked and not only compiled;
/// returns the number of bytes that the server sent.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_no_std_probe() -> usize {
    let now = Instant::ZERO;
    let mut client = Client::new(now, client::Config::new("probe", "1"));
    let mut server = Stdio::new(Server::new(now, server::Config::new("probe", "1")));
    while let Some(outgoing) = client.poll_outgoing() {
        server.handle_input(now, outgoing.body);
        server.handle_input(now, b"\n");
    }
    server.handle_eof(now);
    server.outbox().len()
}

#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[global_allocator]
static HEAP: Bump = Bump { bytes: UnsafeCell::new([0; HEAP_BYTES]), used: AtomicUsize::new(0) };

const HEAP_BYTES: usize = 64 * 1024;

/// Allocates from a static array and frees nothing: the least that links.
///
/// Only this crate has `unsafe` code, because an allocator cannot be written without it.
struct Bump {
    bytes: UnsafeCell<[u8; HEAP_BYTES]>,
    used: AtomicUsize,
}

// SAFETY: `used` only grows, and each thread owns the bytes that its own growth of `used` covers.
unsafe impl Sync for Bump {}

// SAFETY: blocks never overlap, because `used` moves past a block before it is handed out; they are
// aligned by their address, and lie within the array or are null.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.bytes.get().cast::<u8>();
        let place = |used: usize| {
            let start = used.checked_add(base.wrapping_add(used).align_offset(layout.align()))?;
            let end = start.checked_add(layout.size()).filter(|end| *end <= HEAP_BYTES)?;
            Some((start, end))
        };
        let before = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| Some(place(used)?.1));
        let start = before.ok().and_then(place).map(|(start, _)| start);
        start.map_or(core::ptr::null_mut(), |start| base.wrapping_add(start))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

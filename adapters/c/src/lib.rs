//! MCP in C: see `include/mcp.h`, which documents each function, and `README.md`.
//!
//! A connection is a handle. Received bytes go in; bytes to send, events as JSON and one deadline
//! come out; commands go in as JSON. There are no callbacks, no threads and no IO. All memory is
//! the caller's: results are copied into its buffers.
//!
//! The handles are numbers that a table maps to connections, so a handle that was freed is an
//! error. What this crate cannot see remains the caller's duty: pointers other than null must point
//! to as much memory as the length next to them says.
#![allow(unsafe_code, reason = "functions for C read and write the caller's memory")]

mod connection;
mod handles;
mod json;
mod memory;
mod status;

use std::ffi::{CStr, c_char};

use mcp_proto::Instant;

use self::connection::Connection;
use self::memory::{Buffer, read, read_text, set};
pub use self::status::Status;
use self::status::{Failure, NONE, last_error, run};

/// The version of this library, for [`mcp_version`].
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Returns the version of this library, a static text that ends with a zero byte.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Creates a server.
///
/// # Safety
/// `config` and `catalog` have the lengths next to them; `connection` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_new(
    now: u64,
    config: *const u8,
    config_length: usize,
    catalog: *const u8,
    catalog_length: usize,
    connection: *mut u64,
) -> Status {
    run(|| {
        // SAFETY: the contract of this function.
        let config = unsafe { read_text(config, config_length) }?;
        // SAFETY: the contract of this function.
        let catalog = unsafe { read_text(catalog, catalog_length) }?;
        let server = Connection::server(Instant::from_nanos(now), config, catalog)?;
        // SAFETY: the contract of this function.
        unsafe { add(server, connection) }
    })
}

/// Creates a client.
///
/// # Safety
/// `config` has the length next to it; `connection` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_client_new(
    now: u64,
    config: *const u8,
    config_length: usize,
    connection: *mut u64,
) -> Status {
    run(|| {
        // SAFETY: the contract of this function.
        let config = unsafe { read_text(config, config_length) }?;
        let client = Connection::client(Instant::from_nanos(now), config)?;
        // SAFETY: the contract of this function.
        unsafe { add(client, connection) }
    })
}

/// # Safety
/// `to` can be written.
unsafe fn add(connection: Connection, to: *mut u64) -> Result<(), Failure> {
    // SAFETY: the contract of this function. First, so that no connection is without a handle.
    unsafe { set(to, 0, "the connection") }?;
    let handle = handles::add(connection)?;
    // SAFETY: as before.
    unsafe { set(to, handle, "the connection") }
}

/// Frees a connection.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_free(connection: u64) -> Status {
    run(|| handles::remove(connection))
}

/// Handles received bytes.
///
/// # Safety
/// `bytes` has the length next to it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_input(
    connection: u64,
    now: u64,
    bytes: *const u8,
    length: usize,
) -> Status {
    run(|| {
        // SAFETY: the contract of this function.
        let bytes = unsafe { read(bytes, length) }?;
        handles::with(connection, |it| {
            it.endpoint().handle_input(Instant::from_nanos(now), bytes);
            Ok(())
        })
    })
}

/// Handles the end of the input.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_end_of_input(connection: u64, now: u64) -> Status {
    run(|| {
        handles::with(connection, |it| {
            it.endpoint().handle_eof(Instant::from_nanos(now));
            Ok(())
        })
    })
}

/// Advances the time.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_timeout(connection: u64, now: u64) -> Status {
    run(|| {
        handles::with(connection, |it| {
            it.endpoint().handle_timeout(Instant::from_nanos(now));
            Ok(())
        })
    })
}

/// Returns when to call [`mcp_timeout`].
///
/// # Safety
/// `deadline` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_deadline(connection: u64, deadline: *mut u64) -> Status {
    run(|| {
        let due = handles::with(connection, |it| it.endpoint().poll_timeout().ok_or(NONE))?;
        // SAFETY: the contract of this function.
        unsafe { set(deadline, due.as_nanos(), "the deadline") }
    })
}

/// Returns whether to read more input.
///
/// # Safety
/// `wants_input` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_wants_input(connection: u64, wants_input: *mut bool) -> Status {
    run(|| {
        let wants = handles::with(connection, |it| Ok(it.endpoint().wants_input()))?;
        // SAFETY: the contract of this function.
        unsafe { set(wants_input, wants, "the result") }
    })
}

/// Returns whether the connection is closed.
///
/// # Safety
/// `is_closed` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_is_closed(connection: u64, is_closed: *mut bool) -> Status {
    run(|| {
        let closed = handles::with(connection, |it| Ok(it.endpoint().is_closed()))?;
        // SAFETY: the contract of this function.
        unsafe { set(is_closed, closed, "the result") }
    })
}

/// Copies bytes to send, and keeps them until [`mcp_written`].
///
/// # Safety
/// `buffer` has the capacity next to it; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_output(
    connection: u64,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let buffer = Buffer { bytes: buffer, capacity, length };
    // SAFETY: the contract of this function.
    run(|| handles::with(connection, |it| unsafe { buffer.write_part(it.output()) }))
}

/// Removes bytes that were sent.
#[unsafe(no_mangle)]
pub extern "C" fn mcp_written(connection: u64, count: usize) -> Status {
    run(|| handles::with(connection, |it| it.written(count)))
}

/// Copies the oldest event, and removes it if it fits.
///
/// # Safety
/// `buffer` has the capacity next to it; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_next_event(
    connection: u64,
    now: u64,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let buffer = Buffer { bytes: buffer, capacity, length };
    run(|| {
        handles::with(connection, |it| {
            let event = it.event(Instant::from_nanos(now)).ok_or(NONE)?;
            // SAFETY: the contract of this function.
            unsafe { buffer.write(event.as_bytes()) }?;
            it.event_is_read();
            Ok(())
        })
    })
}

/// Applies a command.
///
/// # Safety
/// `command` has the length next to it; `call` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_command(
    connection: u64,
    now: u64,
    command: *const u8,
    length: usize,
    call: *mut u64,
) -> Status {
    run(|| {
        // SAFETY: the contract of this function.
        let command = unsafe { read_text(command, length) }?;
        let now = Instant::from_nanos(now);
        let started = handles::with(connection, |it| it.apply(now, command))?;
        match started {
            // SAFETY: the contract of this function.
            Some(started) if !call.is_null() => unsafe { set(call, started.into(), "the call") },
            _ => Ok(()),
        }
    })
}

/// Copies a part of a JSON text.
///
/// # Safety
/// `json`, `pointer` and `buffer` have the lengths next to them; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_get(
    json: *const u8,
    json_length: usize,
    pointer: *const c_char,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let buffer = Buffer { bytes: buffer, capacity, length };
    run(|| {
        // SAFETY: the contract of this function.
        let value = unsafe { value_at(json, json_length, pointer) }?;
        // SAFETY: the contract of this function.
        unsafe { buffer.write(value.as_bytes()) }
    })
}

/// Copies a string in a JSON text, without quotes and escapes.
///
/// # Safety
/// As [`mcp_json_get`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_text(
    json: *const u8,
    json_length: usize,
    pointer: *const c_char,
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let buffer = Buffer { bytes: buffer, capacity, length };
    run(|| {
        // SAFETY: the contract of this function.
        let value = unsafe { value_at(json, json_length, pointer) }?;
        let text = value.to_text().ok_or(NONE)?;
        // SAFETY: the contract of this function.
        unsafe { buffer.write(text.as_bytes()) }
    })
}

/// # Safety
/// `json` has the length next to it; `pointer` is null or ends with a zero byte.
unsafe fn value_at(
    json: *const u8,
    length: usize,
    pointer: *const c_char,
) -> Result<mcp_proto::Raw, Failure> {
    // SAFETY: the contract of this function.
    let json = unsafe { read_text(json, length) }?;
    // SAFETY: the contract of this function.
    let pointer = unsafe { memory::read_c_text(pointer) }?;
    json::value_at(json, pointer)?.ok_or(NONE)
}

/// Copies the message of the last failure on this thread.
///
/// # Safety
/// `buffer` has the capacity next to it; `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_last_error(
    buffer: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Status {
    let buffer = Buffer { bytes: buffer, capacity, length };
    // SAFETY: the contract of this function.
    run(|| unsafe { buffer.write_part(last_error().as_bytes()) })
}

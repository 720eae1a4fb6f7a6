//! What a program in C may do wrong, and a conversation in memory.
#![allow(
    unsafe_code,
    clippy::multiple_unsafe_ops_per_block,
    reason = "calls as a program in C makes them"
)]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::ptr::{null, null_mut};
use std::thread;

use mcp::*;

const CONFIG: &str = r#"{"info":{"name":"c","version":"1"}}"#;
const CATALOG: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
const CALL: &str = concat!(
    r#"{"command":"call","method":"tools/call","params":{"name":"echo","arguments":{"text":"é"}},"#,
    r#""options":{}}"#
);

/// Returns what a function writes to a buffer that grows until it fits.
fn filled(fill: impl Fn(*mut u8, usize, *mut usize) -> Status) -> Result<String, Status> {
    let (mut buffer, mut length) = (Vec::new(), 0);
    loop {
        match fill(buffer.as_mut_ptr(), buffer.len(), &mut length) {
            Status::TooSmall => buffer.resize(length, 0),
            Status::Ok => {
                buffer.truncate(length);
                return Ok(String::from_utf8(buffer).unwrap());
            }
            other => return Err(other),
        }
    }
}

fn server() -> u64 {
    let mut handle = 0;
    let (config, catalog) = (CONFIG.as_bytes(), CATALOG.as_bytes());
    // SAFETY: texts with their lengths, and a number that can be written.
    let status = unsafe {
        mcp_server_new(
            0,
            config.as_ptr(),
            config.len(),
            catalog.as_ptr(),
            catalog.len(),
            &raw mut handle,
        )
    };
    assert_eq!(status, Status::Ok, "{}", why());
    handle
}

fn client() -> u64 {
    let mut handle = 0;
    // SAFETY: a text with its length, and a number that can be written.
    let status = unsafe { mcp_client_new(0, CONFIG.as_ptr(), CONFIG.len(), &raw mut handle) };
    assert_eq!(status, Status::Ok, "{}", why());
    handle
}

fn command(handle: u64, text: &str) -> Result<u64, Status> {
    let mut call = u64::MAX;
    // SAFETY: a text with its length, and a number that can be written.
    match unsafe { mcp_command(handle, 0, text.as_ptr(), text.len(), &raw mut call) } {
        Status::Ok => Ok(call),
        other => Err(other),
    }
}

fn next_event(handle: u64) -> Option<String> {
    // SAFETY: a buffer with its capacity, and a length that can be written.
    let event = filled(|to, size, length| unsafe { mcp_next_event(handle, 0, to, size, length) });
    match event {
        Ok(event) => Some(event),
        Err(status) => {
            assert_eq!(status, Status::None, "{}", why());
            None
        }
    }
}

fn get(json: &str, pointer: &str) -> Option<String> {
    let pointer = std::ffi::CString::new(pointer).unwrap();
    let part = filled(|to, size, length| {
        // SAFETY: texts and a buffer with their lengths, and a length that can be written.
        unsafe { mcp_json_get(json.as_ptr(), json.len(), pointer.as_ptr(), to, size, length) }
    });
    part.ok()
}

/// Returns the message of the last failure.
fn why() -> String {
    let (mut buffer, mut length) = ([0; 256], 0);
    // SAFETY: a buffer with its capacity, and a length that can be written.
    unsafe { mcp_last_error(buffer.as_mut_ptr(), buffer.len(), &raw mut length) };
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

/// Passes all output on in parts of `size` bytes. Returns whether there was any.
fn send(from: u64, to: u64, size: usize) -> bool {
    let (mut part, mut length, mut any) = (vec![0; size], 0, false);
    loop {
        // SAFETY: a buffer with its capacity, and a length that can be written.
        unsafe { mcp_output(from, part.as_mut_ptr(), size, &raw mut length) };
        if length == 0 {
            return any;
        }
        // SAFETY: bytes with their length.
        let status = unsafe { mcp_input(to, 0, part.as_ptr(), length) };
        assert_eq!((status, mcp_written(from, length)), (Status::Ok, Status::Ok), "{}", why());
        any = true;
    }
}

/// Calls `echo` and returns the outcome.
fn conversation(size: usize) -> String {
    let (server, client) = (server(), client());
    let mut outcome = None;
    loop {
        while let Some(event) = next_event(server) {
            let Some(text) = get(&event, "/request/params/arguments/text") else { continue };
            let incoming = get(&event, "/incoming").unwrap();
            let content = format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#);
            let reply =
                format!(r#"{{"command":"respond","incoming":{incoming},"result":{content}}}"#);
            command(server, &reply).unwrap();
        }
        while let Some(event) = next_event(client) {
            match get(&event, "/event").unwrap().as_str() {
                r#""ready""# => assert_ne!(command(client, CALL), Ok(u64::MAX)),
                r#""completed""# => outcome = get(&event, "/outcome/result/content"),
                _ => {}
            }
        }
        if !send(client, server, size) & !send(server, client, size) {
            break;
        }
    }
    assert_eq!((mcp_free(server), mcp_free(client)), (Status::Ok, Status::Ok));
    outcome.expect("the call has completed")
}

#[test]
fn a_call_returns_its_result_however_bytes_are_split() {
    for size in [1, 7, 4096] {
        assert_eq!(conversation(size), r#"[{"type":"text","text":"é"}]"#);
    }
}

#[test]
fn connections_are_independent_on_many_threads() {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| conversation(512))).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), r#"[{"type":"text","text":"é"}]"#);
    }
}

#[test]
fn one_connection_can_be_used_and_freed_from_many_threads() {
    let server = server();
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let threads: Vec<_> = (0..4)
        .map(|number| {
            thread::spawn(move || {
                for _ in 0..50 {
                    // SAFETY: bytes with their length.
                    let status = unsafe { mcp_input(server, 0, line.as_ptr(), line.len()) };
                    assert!(matches!(status, Status::Ok | Status::UnknownConnection));
                }
                number == 0 && mcp_free(server) == Status::Ok
            })
        })
        .collect();
    let freed = threads.into_iter().map(|it| it.join().unwrap());
    assert_eq!(freed.filter(|freed| *freed).count(), 1);
}

#[test]
fn handles_that_do_not_exist_are_errors() {
    let freed = server();
    assert_eq!(mcp_free(freed), Status::Ok);
    let later = server();
    let foreign = [0, freed, u64::MAX, later + 1, later | (77 << 32), 1 << 32];
    for handle in foreign {
        let (mut number, mut flag, mut length) = (0, false, 0);
        // SAFETY: values that can be written, buffers of length 0.
        let statuses = unsafe {
            [
                mcp_free(handle),
                mcp_input(handle, 0, null(), 0),
                mcp_end_of_input(handle, 0),
                mcp_timeout(handle, 0),
                mcp_deadline(handle, &raw mut number),
                mcp_wants_input(handle, &raw mut flag),
                mcp_is_closed(handle, &raw mut flag),
                mcp_output(handle, null_mut(), 0, &raw mut length),
                mcp_written(handle, 0),
                mcp_next_event(handle, 0, null_mut(), 0, &raw mut length),
            ]
        };
        assert_eq!(statuses, [Status::UnknownConnection; 10], "{handle}");
        assert_eq!(command(handle, r#"{"command":"close"}"#), Err(Status::UnknownConnection));
        assert!(why().contains(&format!("there is no connection {handle}")), "{}", why());
    }
    assert_eq!(mcp_free(later), Status::Ok);
}

#[test]
fn null_pointers_are_errors() {
    let server = server();
    let (mut handle, mut length) = (9, 0);
    // SAFETY: null is what is tested; all other pointers are valid.
    let statuses = unsafe {
        [
            mcp_server_new(0, null(), 3, null(), 0, &raw mut handle),
            mcp_server_new(0, CONFIG.as_ptr(), CONFIG.len(), null(), 0, null_mut()),
            mcp_client_new(0, null(), 3, &raw mut handle),
            mcp_client_new(0, CONFIG.as_ptr(), CONFIG.len(), null_mut()),
            mcp_input(server, 0, null(), 1),
            mcp_wants_input(server, null_mut()),
            mcp_is_closed(server, null_mut()),
            mcp_output(server, null_mut(), 0, null_mut()),
            mcp_command(server, 0, null(), 1, null_mut()),
            mcp_json_get(null(), 2, c"".as_ptr(), null_mut(), 0, &raw mut length),
            mcp_json_get(b"{}".as_ptr(), 2, null(), null_mut(), 0, &raw mut length),
            mcp_json_get(b"{}".as_ptr(), 2, c"".as_ptr(), null_mut(), 9, &raw mut length),
            mcp_json_text(b"{}".as_ptr(), 2, null(), null_mut(), 0, &raw mut length),
            mcp_last_error(null_mut(), 9, &raw mut length),
        ]
    };
    assert_eq!(statuses, [Status::Null; 14]);
    assert_eq!(mcp_free(server), Status::Ok);
}

#[test]
fn lengths_that_cannot_be_are_errors() {
    let server = server();
    // SAFETY: the length is refused before a byte is read.
    let status = unsafe { mcp_input(server, 0, b"x".as_ptr(), usize::MAX) };
    assert_eq!(status, Status::Misuse);
    assert_eq!(mcp_written(server, 1), Status::Misuse);
    assert_eq!(why(), "1 bytes cannot be sent of 0");
    assert_eq!(mcp_free(server), Status::Ok);
}

#[test]
fn texts_that_cannot_be_read_say_why() {
    let mut handle = 0;
    let mut create = |config: &str, catalog: &str| {
        let (config, catalog) = (config.as_bytes(), catalog.as_bytes());
        // SAFETY: texts with their lengths, and a number that can be written.
        let status = unsafe {
            mcp_server_new(
                0,
                config.as_ptr(),
                config.len(),
                catalog.as_ptr(),
                catalog.len(),
                &raw mut handle,
            )
        };
        assert_eq!((status, handle), (Status::InvalidJson, 0));
        why()
    };
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    for (config, catalog, expected) in [
        ("", "", "no JSON"),
        ("[]", "", "invalid configuration"),
        (r#"{"info":{"name":"x","version":"1"},"limit":{}}"#, "", "limits"),
        (CONFIG, r#"{"tool":[1]}"#, "unknown list; use `tools`"),
        (CONFIG, r#"{"tools":[{"name":1}]}"#, "invalid entry 1 of `tools` in the catalog"),
        (CONFIG, &format!(r#"{{"tools":[{tool},{tool}]}}"#), "entry \"t\" of `tools`"),
    ] {
        let why = create(config, catalog);
        assert!(why.contains(expected), "{config} {catalog}: {why}");
    }
    let server = server();
    for (text, status, expected) in [
        ("close", Status::InvalidJson, "no JSON"),
        (r#"{"command":"clos"}"#, Status::InvalidJson, "close"),
        (r#"{"command":"cancel","call":9,"reason":""}"#, Status::Misuse, "stale (4)"),
        (CALL, Status::Misuse, "("),
    ] {
        assert_eq!(command(server, text), Err(status), "{text}");
        assert!(why().contains(expected), "{text}: {}", why());
    }
    assert_eq!(mcp_free(server), Status::Ok);
}

#[test]
fn an_event_waits_for_a_buffer_that_is_large_enough() {
    let server = server();
    assert_eq!(mcp_end_of_input(server, 0), Status::Ok);
    let mut length = 0;
    for _ in 0..2 {
        // SAFETY: a buffer of length 0, and a length that can be written.
        let status = unsafe { mcp_next_event(server, 0, null_mut(), 0, &raw mut length) };
        assert_eq!((status, length > 20), (Status::TooSmall, true));
    }
    let event = next_event(server).expect("the event is still there");
    assert_eq!((event.len(), get(&event, "/event").as_deref()), (length, Some(r#""closed""#)));
    assert_eq!(next_event(server), None);
    assert_eq!(mcp_free(server), Status::Ok);
}

//! The messages of every measurement: deterministic, and identical for all implementations.

/// Bytes that a driver passes at a time, as from one `read`.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Messages in the mixed stream.
pub const MIXED_MESSAGES: u64 = 10_000;

/// The id of our first call after the handshake.
pub const FIRST_ID: u64 = 2;

/// Returns a request without params.
pub fn ping(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// Returns progress number `step` of a call.
pub fn progress(token: u64, step: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step}}}}}"#
    )
}

/// Returns a cancellation.
pub fn cancelled(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// The handshake of a client, before its first call.
pub const HANDSHAKE: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];

/// The arguments of a typical call.
pub const ARGUMENTS: &str = r#"{"query":"state machines without IO","repository":"example/widgets","path":"src/parser/mod.rs","limit":25,"include":["*.rs","*.toml"],"exclude":["target/**"],"case_sensitive":false,"context":{"before":2,"after":4}}"#;

/// Returns a typical call, 300 bytes.
pub fn call(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"search_code","arguments":{ARGUMENTS}}}}}"#
    )
}

/// Returns that call with its params before its method.
pub fn call_params_first(id: u64) -> String {
    format!(
        r#"{{"params":{{"name":"search_code","arguments":{ARGUMENTS}}},"jsonrpc":"2.0","method":"tools/call","id":{id}}}"#
    )
}

/// The text of a typical result.
pub const TEXT: &str = "src/parser/mod.rs:118: the cursor takes one whole value and leaves the \
    rest; errors name the byte at which they were noticed, not the one after it. Found 3 of 25 \
    matches in 14 ms.";

/// Returns a typical result, 300 bytes.
pub fn result(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{TEXT}"}}],"isError":false,"_meta":{{"example.com/took":14}}}}}}"#
    )
}

/// Returns one tool of a list, about 540 bytes.
fn tool(number: usize) -> String {
    format!(
        r#"{{"name":"tool_{number}","title":"Tool {number}","description":"Looks something up in the {number}th place and says what it found there, with the lines around it.","inputSchema":{{"type":"object","properties":{{"query":{{"type":"string","description":"What to look for"}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":25}},"kind":{{"type":"string","enum":["file","line","symbol"]}}}},"required":["query"],"additionalProperties":false}},"annotations":{{"readOnlyHint":true,"openWorldHint":false}}}}"#
    )
}

/// Returns the result of `tools/list`, 8 KB.
pub fn tools() -> String {
    let tools: Vec<String> = (1..=15).map(tool).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}

/// Returns the response to `tools/list`, 8 KB.
pub fn list(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, tools())
}

/// Returns prose of `bytes` bytes, with a line break about every 80.
pub fn prose(bytes: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all.\n";
    let mut text = line.repeat(bytes / line.len() + 1);
    text.truncate(bytes);
    text
}

/// Returns a result with 1 MB of text.
pub fn text(id: u64) -> String {
    let text = prose(1 << 20).replace('\n', "\\n");
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

/// Returns a result with an image of 10 MB in base64.
pub fn image(id: u64) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let data = alphabet.repeat((10 << 20) / alphabet.len());
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}}}"#
    )
}

/// The input of each side, and all lines in order.
#[derive(Debug, Default)]
pub struct Mixed {
    /// For a server: calls, pings, cancellations.
    pub to_server: Vec<u8>,
    /// For a client: results, lists, progress of call number [`FIRST_ID`]. The other calls are
    /// answered in order.
    pub to_client: Vec<u8>,
    /// The number of calls the client must have made, including the one with progress.
    pub client_calls: u64,
    /// Both, in the order of the stream.
    pub all: Vec<u8>,
}

/// Returns the mixed stream: 80 % typical calls and results, 15 % tiny messages, 5 % lists of 8 KB,
/// in a fixed shuffled order.
pub fn mixed() -> Mixed {
    let mut mixed = Mixed { client_calls: 1, ..Mixed::default() };
    let (mut id, mut step, mut dice) = (0, 0, 0x2545_F491_4F6C_DD1D_u64);
    for _ in 0..MIXED_MESSAGES {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (line, for_client) = match (dice >> 33) % 100 {
            0..40 => {
                id += 1;
                (call(id), false)
            }
            40..80 => (result(answered(&mut mixed)), true),
            80..85 => {
                id += 1;
                (ping(id), false)
            }
            85..90 => {
                step += 1;
                (progress(FIRST_ID, step), true)
            }
            90..95 => (cancelled(id), false),
            _ => (list(answered(&mut mixed)), true),
        };
        let to = if for_client { &mut mixed.to_client } else { &mut mixed.to_server };
        push_line(to, &line);
        push_line(&mut mixed.all, &line);
    }
    mixed
}

fn answered(mixed: &mut Mixed) -> u64 {
    mixed.client_calls += 1;
    FIRST_ID + mixed.client_calls - 1
}

fn push_line(out: &mut Vec<u8>, line: &str) {
    out.extend_from_slice(line.as_bytes());
    out.push(b'\n');
}

/// Returns `count` messages of one kind, one per line; `message` receives their ids.
pub fn lines(first_id: u64, count: u64, message: impl Fn(u64) -> String) -> Vec<u8> {
    let mut out = Vec::new();
    (first_id..first_id + count).for_each(|id| push_line(&mut out, &message(id)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_match_the_names() {
        assert!((290..=310).contains(&call(1000).len()), "{}", call(1000).len());
        assert_eq!(call(1).len(), call_params_first(1).len());
        assert!((290..=310).contains(&result(1000).len()), "{}", result(1000).len());
        assert!((8_000..=8_400).contains(&list(1).len()), "{}", list(1).len());
    }

    #[test]
    fn the_mixed_stream_is_complete() {
        let mixed = mixed();
        assert_eq!(mixed.to_server.len() + mixed.to_client.len(), mixed.all.len());
        assert_eq!(memchr::memchr_iter(b'\n', &mixed.all).count() as u64, MIXED_MESSAGES);
    }
}

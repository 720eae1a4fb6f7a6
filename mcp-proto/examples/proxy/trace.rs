//! [`Trace`]: prints one line per message: direction, id, method and the beginning of its content.

use std::io::Write;

use mcp_proto::{Raw, Side};

/// The printed length of a message.
const SHOWN_CHARS: usize = 160;
/// The buffered length of an incomplete message.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Prints a line for each message. Ignores write errors.
pub(crate) struct Trace {
    out: Box<dyn Write>,
    from_client: Vec<u8>,
    to_client: Vec<u8>,
    from_server: Vec<u8>,
    to_server: Vec<u8>,
}

impl Trace {
    pub(crate) fn new(out: Box<dyn Write>) -> Self {
        let line = Vec::new;
        Self { out, from_client: line(), to_client: line(), from_server: line(), to_server: line() }
    }

    pub(crate) fn note(&mut self, note: &str) {
        let _ignored = writeln!(self.out, "                 ({note})");
    }

    pub(crate) fn received(&mut self, side: Side, bytes: &[u8]) {
        match side {
            Side::Client => {
                trace_lines(&mut self.from_client, "client > proxy ", bytes, &mut *self.out);
            }
            Side::Server => {
                trace_lines(&mut self.from_server, "proxy  < server", bytes, &mut *self.out);
            }
        }
    }

    pub(crate) fn sent(&mut self, side: Side, bytes: &[u8]) {
        match side {
            Side::Client => {
                trace_lines(&mut self.to_client, "client < proxy ", bytes, &mut *self.out);
            }
            Side::Server => {
                trace_lines(&mut self.to_server, "proxy  > server", bytes, &mut *self.out);
            }
        }
    }
}

fn trace_lines(line: &mut Vec<u8>, direction: &str, bytes: &[u8], out: &mut dyn Write) {
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let room = LINE_BYTES_MAX.saturating_sub(line.len());
        line.extend(piece.iter().take(room));
        if piece.ends_with(b"\n") {
            let _ignored =
                writeln!(out, "{direction}  {}", describe(&String::from_utf8_lossy(line)));
            line.clear();
        }
    }
}

fn describe(line: &str) -> String {
    let Ok(message) = Raw::from_text(line.trim()) else { return truncated(line.trim()) };
    let id = message.member("id").map_or_else(|| "-".into(), |id| id.to_string());
    let method = message.member("method").and_then(|method| Some(method.to_text()?.into_owned()));
    let part = ["params", "result", "error"]
        .into_iter()
        .find_map(|name| Some((name, message.member(name)?)));
    let what = match (method, &part) {
        (Some(method), _) => method,
        (None, Some((name, _))) => (*name).into(),
        (None, None) => "?".into(),
    };
    let content =
        part.map_or_else(String::new, |(_, value)| format!(" {}", truncated(value.as_str())));
    format!("{id:>4} {what}{content}")
}

fn truncated(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

#[test]
fn each_message_is_printed_on_one_line() {
    let mut line = Vec::new();
    let mut out = Vec::new();
    for bytes in [
        &b"{\"jsonrpc\":\"2.0\",\"id\":7,\"meth"[..],
        b"od\":\"tools/list\"}\nnoise\n{\"id\":7,\"result\":{}}\n",
    ] {
        trace_lines(&mut line, ">", bytes, &mut out);
    }
    assert_eq!(
        String::from_utf8(out).unwrap(),
        ">     7 tools/list\n>  noise\n>     7 result {}\n"
    );
}

//! The minimal echo server: finds line ends, the id and the text, and checks nothing.

use std::io::{Read, Write, stdin, stdout};

use memchr::memmem;

fn main() -> std::io::Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (mut chunk, mut held, mut out) = (vec![0; 64 * 1024], Vec::new(), Vec::new());
    loop {
        let count = input.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        let looked_at = held.len();
        held.extend_from_slice(&chunk[..count]);
        let mut start = 0;
        while let Some(end) = memchr::memchr(b'\n', &held[start.max(looked_at)..]) {
            let end = start.max(looked_at) + end;
            answer(&held[start..end], &mut out);
            start = end + 1;
        }
        held.drain(..start);
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
    }
}

fn answer(line: &[u8], out: &mut Vec<u8>) {
    let Some(id) = behind(line, b"\"id\":") else { return };
    let id = id.split(|byte| matches!(byte, b',' | b'}')).next().unwrap_or_default();
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id);
    if let Some(text) = behind(line, b"\"text\":") {
        out.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
        out.extend_from_slice(text.strip_suffix(b"}}}").unwrap_or(text));
        out.extend_from_slice(b"}]}}\n");
    } else {
        out.extend_from_slice(
            b",\"result\":{\"protocolVersion\":\"2025-11-25\",\
            \"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"bytes\",\
            \"version\":\"1\"}}}\n",
        );
    }
}

fn behind<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.get(memmem::find(line, name)? + name.len()..)
}

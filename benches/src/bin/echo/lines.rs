//! The minimal echo server line by line, with `std`: finds the id and the text, and checks nothing.

use std::io::{BufRead, BufReader, BufWriter, Write, stdin, stdout};

fn main() -> std::io::Result<()> {
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        answer(line.strip_suffix(b"\n").unwrap_or(&line), &mut output)?;
        line.clear();
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(())
}

fn answer(line: &[u8], out: &mut impl Write) -> std::io::Result<()> {
    let Some(id) = behind(line, b"\"id\":") else { return Ok(()) };
    let id = id.split(|byte| matches!(byte, b',' | b'}')).next().unwrap_or_default();
    out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":")?;
    out.write_all(id)?;
    if let Some(text) = behind(line, b"\"text\":") {
        out.write_all(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":")?;
        out.write_all(text.strip_suffix(b"}}}").unwrap_or(text))?;
        out.write_all(b"}]}}\n")
    } else {
        out.write_all(
            b",\"result\":{\"protocolVersion\":\"2025-11-25\",\
            \"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"bytes\",\
            \"version\":\"1\"}}}\n",
        )
    }
}

fn behind<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let place = line.windows(name.len()).position(|part| part == name)?;
    line.get(place + name.len()..)
}

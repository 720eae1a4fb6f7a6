//! An HTTP request as a server reads it.

use std::io::{BufRead, Read};

use serde_json::Value;

/// A complete request.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are enough")]
pub struct Request {
    /// The number of the request at its site.
    pub nth: usize,
    /// The number of the connection at its site.
    pub connection: usize,
    pub verb: String,
    pub path: String,
    pub fields: Vec<(String, String)>,
    /// The body; null without one, and a string if it is no JSON.
    pub body: Value,
}

impl Request {
    /// Reads a request; `None` once the client has disconnected.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Self> {
        let first = line(reader)?;
        let mut words = first.split(' ');
        let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut fields = Vec::new();
        loop {
            let line = line(reader)?;
            let Some((name, value)) = line.split_once(':') else { break };
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self { nth: 0, connection: 0, verb, path, fields, body: Value::Null };
        let length = request.field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        if length > 0 {
            let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
            request.body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
        }
        Some(request)
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Returns the method of the message, or the HTTP method without a message.
    #[must_use]
    pub fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    /// Returns the text argument of a tool call.
    #[must_use]
    pub fn text(&self) -> &str {
        self.body["params"]["arguments"]["text"].as_str().unwrap_or_default()
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    reader.by_ref().take(64 * 1024).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    Some(line.strip_suffix("\r\n")?.to_owned())
}

//! One HTTP request as a server reads it; knows nothing of what it is answered with.

use std::io::{BufRead, Read};

use serde_json::Value;

/// A request, to its last byte.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "they say it themselves")]
pub struct Request {
    /// Counts the requests of a site.
    pub nth: usize,
    /// Counts the connections of a site.
    pub connection: usize,
    pub verb: String,
    pub path: String,
    pub fields: Vec<(String, String)>,
    /// Null where there is none.
    pub body: Value,
}

impl Request {
    /// Reads one; nothing once the client has left.
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
            request.body = serde_json::from_slice(&body).unwrap();
        }
        Some(request)
    }

    /// The value of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// The method of the message, or else of HTTP.
    #[must_use]
    pub fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    /// The text that a tool is called with.
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

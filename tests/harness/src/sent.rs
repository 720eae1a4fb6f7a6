//! Checks a server's messages in one session or exchange: which stream they use, and under which
//! event id.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::Raw;
use mcp_proto::http::sse::{EventReader, Item};

/// The part read so far of one event stream on one connection.
#[derive(Debug)]
struct Reading {
    reader: EventReader,
    stream: Option<String>,
    last: u64,
}

impl Default for Reading {
    fn default() -> Self {
        Self { reader: EventReader::new(usize::MAX, 256), stream: None, last: 0 }
    }
}

/// The messages of a server in one session, or in one modern exchange.
///
/// Connections are identified by unique numbers.
#[derive(Debug, Default)]
pub struct SentMessages {
    /// The text of each event, by id.
    events: BTreeMap<String, String>,
    /// The ids of events without a message.
    primings: BTreeSet<String>,
    /// Where each text appeared that may appear only once.
    places: BTreeMap<String, String>,
    /// The answered requests, and where each was answered.
    answers: BTreeMap<String, String>,
    readings: BTreeMap<u64, Reading>,
    kinds: BTreeSet<&'static str>,
    /// For an arbitrary client: only texts that contain this mark must be unique.
    marked: Option<&'static str>,
}

impl SentMessages {
    /// Creates checks for a server whose client may send anything: only texts that contain `mark`
    /// must be unique.
    #[must_use]
    pub fn to_stranger(mark: &'static str) -> Self {
        Self { marked: Some(mark), ..Self::default() }
    }

    /// Takes the kinds of messages since the last call: `comment`, `priming`, `replayed`,
    /// `asks-on-get`, `asks-on-post`.
    pub fn take_kinds(&mut self) -> BTreeSet<&'static str> {
        std::mem::take(&mut self.kinds)
    }

    /// Checks a whole response.
    ///
    /// # Errors
    ///
    /// If the server must not send it.
    pub fn whole(&mut self, conn: u64, body: &[u8], is_alone: bool) -> Result<(), String> {
        if body.is_empty() {
            return Ok(());
        }
        let text = std::str::from_utf8(body).map_err(|_| "a body is not UTF-8")?;
        self.message(text, &format!("connection {conn}"), is_alone, false)
    }

    /// Records that this connection continues a stream after an event.
    pub fn resume(&mut self, conn: u64, last_event_id: &str) {
        if let Some((stream, number)) = stream_and_number(last_event_id)
            && let Ok(last) = number.parse()
        {
            let reader = EventReader::new(usize::MAX, 256);
            self.readings.insert(conn, Reading { reader, stream: Some(stream.into()), last });
        }
    }

    /// Checks a piece of an event stream.
    ///
    /// # Errors
    ///
    /// If the server must not send it.
    pub fn frame(&mut self, conn: u64, mut bytes: &[u8], is_alone: bool) -> Result<(), String> {
        if !bytes.ends_with(b"\n\n") {
            return Err("a frame is not of whole events".into());
        }
        let mut reading = self.readings.remove(&conn).unwrap_or_default();
        if bytes.first() == Some(&b':') {
            self.kinds.insert("comment");
        }
        while let Some(found) = reading.reader.next(&mut bytes) {
            let Item::Event(event) = found else { return Err("an event is too long".into()) };
            let text = event.message().map(|data| String::from_utf8_lossy(data).into_owned());
            let id = event.id.map(str::to_owned);
            if is_alone && id.is_some() {
                return Err(format!("an event id in the modern era: {id:?}"));
            }
            if !is_alone && id.is_none() && text.is_some() {
                return Err("a message of a session has no id".into());
            }
            let mut on_get = false;
            if let Some((stream, number)) = id.as_deref().and_then(stream_and_number) {
                on_get = stream.ends_with("-0");
                let number = number.parse().map_err(|_| format!("odd id {id:?}"))?;
                if reading.stream.get_or_insert_with(|| stream.into()) != stream {
                    return Err(format!("{id:?} is of another stream than {:?}", reading.stream));
                }
                if text.is_some() && number <= reading.last {
                    return Err(format!("{id:?} follows {}", reading.last));
                }
                reading.last = reading.last.max(number);
            }
            let Some(text) = text else {
                // HTTP-16: `retry` alone, before a stream ends early.
                if id.is_none() {
                    self.kinds.insert("retry");
                    continue;
                }
                // SSE-14: no event id is repeated.
                if let Some(id) = id.filter(|id| !self.primings.insert(id.clone())) {
                    return Err(format!("{id} begins two exchanges"));
                }
                self.kinds.insert("priming");
                continue;
            };
            let id = id.unwrap_or_else(|| format!("connection {conn}"));
            if !is_alone {
                if let Some(before) = self.events.get(&id) {
                    if *before != text {
                        return Err(format!("{id} was {before} and is {text}"));
                    }
                    self.kinds.insert("replayed");
                    continue;
                }
                self.events.insert(id.clone(), text.clone());
            }
            self.message(&text, &id, is_alone, on_get)?;
        }
        self.readings.insert(conn, reading);
        Ok(())
    }

    /// Checks a piece of a stream of HTTP+SSE: its first event names the message endpoint, and all
    /// others are messages.
    ///
    /// # Errors
    ///
    /// If the server must not send it.
    // HTTP-57.
    pub fn legacy_frame(&mut self, conn: u64, mut bytes: &[u8]) -> Result<(), String> {
        let mut reading = self.readings.remove(&conn).unwrap_or_default();
        while let Some(found) = reading.reader.next(&mut bytes) {
            let Item::Event(event) = found else { return Err("an event is too long".into()) };
            let Some(data) = &event.data else { continue };
            let text = String::from_utf8_lossy(data);
            let kind = if reading.last == 0 { "endpoint" } else { "message" };
            if event.kind != kind || event.id.is_some() {
                return Err(format!("a {} event where {kind} is due: {text}", event.kind));
            }
            if reading.last > 0 {
                self.message(&text, &format!("event {} of {conn}", reading.last), false, false)?;
            }
            reading.last += 1;
        }
        self.readings.insert(conn, reading);
        Ok(())
    }

    fn message(
        &mut self,
        text: &str,
        place: &str,
        is_alone: bool,
        on_get: bool,
    ) -> Result<(), String> {
        let raw = Raw::from_text(text).map_err(|error| format!("{text} is no JSON: {error}"))?;
        let (id, method) = (raw.member("id"), raw.member("method"));
        let is_known = self.marked.is_none_or(|mark| text.contains(mark));
        if let Some(id) =
            id.as_ref().filter(|id| method.is_none() && is_known && id.as_bytes() != b"null")
        {
            if on_get {
                return Err(format!("a response without a request: {text}"));
            }
            if let Some(before) = self.answers.insert(id.to_string(), place.into()) {
                return Err(format!("{id} is answered at {before} and at {place}: {text}"));
            }
        }
        if id.is_some() && method.is_some() {
            if is_alone {
                return Err(format!("a request to a modern client: {text}"));
            }
            self.kinds.insert(if on_get { "asks-on-get" } else { "asks-on-post" });
        }
        // The bodies of error statuses answer no request.
        let is_orphan =
            raw.member("error").is_some() && id.as_ref().is_none_or(|id| id.as_bytes() == b"null");
        let can_come_again =
            is_orphan || text.contains("list_changed") || text.contains("resources/updated");
        if can_come_again || !is_known {
            return Ok(());
        }
        match self.places.insert(text.into(), place.into()) {
            Some(before) if before != place || is_alone => {
                Err(format!("sent at {before} and at {place}: {text}"))
            }
            _ => Ok(()),
        }
    }

    /// Removes a finished connection.
    pub fn forget(&mut self, conn: u64) {
        self.readings.remove(&conn);
    }

    /// Returns the numbers of all events, by the stream that their ids name.
    #[must_use]
    pub fn ids(&self) -> BTreeMap<String, BTreeSet<u64>> {
        let mut ids: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for id in self.events.keys() {
            if let Some((stream, number)) = stream_and_number(id)
                && let Ok(number) = number.parse()
            {
                ids.entry(stream.to_owned()).or_default().insert(number);
            }
        }
        ids
    }
}

/// Splits an event id after the number of its stream, and returns the number of its message. The id
/// of an event without a message ends with the number of its exchange.
fn stream_and_number(id: &str) -> Option<(&str, &str)> {
    let (at, _) = id.match_indices('-').nth(1)?;
    let (stream, rest) = (id.get(..at)?, id.get(at + 1..)?);
    Some((stream, rest.split_once('-').map_or(rest, |(number, _)| number)))
}

//! The headers of a request that admission checks, found in one pass.

use super::headers::{Headers, all_values};

/// The value of one header of a request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Field<'a> {
    #[default]
    Absent,
    Once(&'a [u8]),
    Repeated,
}

impl<'a> Field<'a> {
    fn add(&mut self, value: &'a [u8]) {
        *self = if *self == Self::Absent { Self::Once(value) } else { Self::Repeated };
    }
}

/// The headers that admission checks.
pub(super) struct RequestHeaders<'a> {
    all: &'a dyn Headers,
    pub(super) host: Field<'a>,
    pub(super) origin: Field<'a>,
    pub(super) accept: Field<'a>,
    pub(super) content_type: Field<'a>,
    pub(super) content_length: Field<'a>,
    pub(super) content_encoding: Field<'a>,
    pub(super) transfer_encoding: Field<'a>,
    pub(super) protocol_version: Field<'a>,
    pub(super) session_id: Field<'a>,
    pub(super) last_event_id: Field<'a>,
}

impl<'a> RequestHeaders<'a> {
    pub(super) fn of(all: &'a dyn Headers) -> Self {
        let mut found = Self {
            all,
            host: Field::Absent,
            origin: Field::Absent,
            accept: Field::Absent,
            content_type: Field::Absent,
            content_length: Field::Absent,
            content_encoding: Field::Absent,
            transfer_encoding: Field::Absent,
            protocol_version: Field::Absent,
            session_id: Field::Absent,
            last_event_id: Field::Absent,
        };
        all.each(&mut |name, value| {
            if let Some(field) = found.field(name) {
                field.add(value);
            }
        });
        found
    }

    /// Returns the field for a header name. The length rules out most names.
    fn field(&mut self, name: &str) -> Option<&mut Field<'a>> {
        let (known, field) = match name.len() {
            4 => ("host", &mut self.host),
            6 if name.starts_with(['a', 'A']) => ("accept", &mut self.accept),
            6 => ("origin", &mut self.origin),
            12 => ("content-type", &mut self.content_type),
            13 => ("last-event-id", &mut self.last_event_id),
            14 if name.starts_with(['m', 'M']) => ("mcp-session-id", &mut self.session_id),
            14 => ("content-length", &mut self.content_length),
            16 => ("content-encoding", &mut self.content_encoding),
            17 => ("transfer-encoding", &mut self.transfer_encoding),
            20 => ("mcp-protocol-version", &mut self.protocol_version),
            _ => return None,
        };
        // Most HTTP stacks return names in lower case, and a plain comparison is faster.
        (name == known || name.eq_ignore_ascii_case(known)).then_some(field)
    }

    /// Returns all values of `field`, whose header is `name`.
    pub(super) fn values(&self, field: Field<'a>, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let (one, all) = match field {
            Field::Absent => (None, None),
            Field::Once(value) => (Some(value), None),
            Field::Repeated => (None, Some(all_values(self.all, name))),
        };
        one.into_iter().chain(all.into_iter().flatten())
    }
}

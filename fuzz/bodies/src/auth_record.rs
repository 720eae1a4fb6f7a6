//! Stored records, damaged in any way.

use mcp_proto::auth::{AuthLimits, ClientRecord, GrantRecord, Reach, UriPolicy};

/// A record that can be read is written as text that reads as an equal record.
pub fn auth_record(data: &[u8]) {
    let limits = AuthLimits::default();
    if let Ok(record) = ClientRecord::parse(data, &limits) {
        let text = record.to_json();
        assert_eq!(ClientRecord::parse(text.expose().as_bytes(), &limits), Ok(record));
    }
    let policy = UriPolicy::of_server(Reach::Loopback);
    if let Ok(record) = GrantRecord::parse(data, &policy, &limits) {
        // Endpoints that cannot be used are not written.
        let text = record.to_json();
        let read = GrantRecord::parse(text.expose().as_bytes(), &policy, &limits);
        assert_eq!(read.map(|record| record.to_json()), Ok(text));
    }
}

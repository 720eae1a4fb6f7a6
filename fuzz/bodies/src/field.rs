//! Header field values: encoding against decoding, and numbers against another parser.

use mcp_proto::http::header::{
    Authority, Origin, accepts, challenges, decode, encode, is_event_id, is_media_type, is_token,
    safe_integer, text, visible,
};

/// An encoded value is valid and decodes to itself, and so does the decoding of any value.
pub fn field(data: &[u8]) {
    let said = String::from_utf8_lossy(data);
    round_trip(&said);
    if let Ok(decoded) = decode(data) {
        round_trip(&decoded);
    }
    if let Some(plain) = text(data) {
        assert!(is_plain(plain.as_bytes()), "{plain:?}");
        assert_eq!(text(plain.as_bytes()), Some(plain), "what was trimmed stays as it is");
    }
    if let Some(id) = visible(data, 64) {
        assert!(is_event_id(id, 64) && id.len() <= 64, "{id:?}");
    }
    if let Some(integer) = safe_integer(&said) {
        assert!(integer.unsigned_abs() < 1 << 53);
        let number: f64 = said.parse().unwrap_or(f64::NAN);
        assert_eq!(integer as f64, number, "{said}");
    }
    let accepted = |wanted| accepts(data.split(|byte| *byte == b'\n'), wanted);
    if is_media_type(data, "application/json") {
        assert!(
            accepted("application/json") || data.contains(&b';') || data.contains(&b'\n'),
            "{said:?}"
        );
    }
    if let Some(authority) = Authority::parse(data) {
        assert!(text(data).is_some() && !data.contains(&b'/') && !data.contains(&b'@'), "{said:?}");
        let origin = format!("http://{}", text(data).unwrap_or_default());
        let origin = Origin::parse(origin.as_bytes());
        assert_eq!(
            origin.map(|origin| origin.is_loopback()),
            Some(authority.is_loopback()),
            "{said:?}"
        );
    }
    for challenge in challenges(data).into_iter().flatten() {
        assert!(is_token(challenge.scheme));
        for (name, value) in &challenge.params {
            assert!(is_token(name));
            assert_eq!(challenge.param(name), Some(&**value));
        }
    }
}

fn round_trip(said: &str) {
    let sent = encode(said);
    assert!(is_plain(sent.as_bytes()), "{sent:?}");
    assert_eq!(decode(sent.as_bytes()).as_deref(), Ok(said));
    assert_eq!(decode(format!(" {sent}\t").as_bytes()).as_deref(), Ok(said), "blanks around it");
}

fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

//! Encoded messages parse as the intended JSON.

use alloc::string::String;

use serde_json::{Value, json};

use super::*;
use crate::json::Raw;

fn written<T>(write: impl FnOnce(&mut Vec<u8>) -> Result<T, Unencodable>) -> Value {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "FRM-02");
    serde_json::from_slice(&out).unwrap()
}

fn put(text: &'static str) -> impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable> {
    move |out| {
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[test]
fn a_request_has_a_version_an_id_a_method_and_params() {
    let message = written(|out| request(out, u64::MAX, "a\"b", put("{}")));
    assert_eq!(message, json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "a\"b", "params": {}}));
}

#[test]
fn a_notification_has_no_id_and_optional_object_params_json_04_json_17() {
    let message = written(|out| notification(out, "n", put("")));
    assert_eq!(message, json!({"jsonrpc": "2.0", "method": "n"}));
    let message = written(|out| notification(out, "n", put(r#"{"a":1}"#)));
    assert_eq!(message, json!({"jsonrpc": "2.0", "method": "n", "params": {"a": 1}}));
    for other in ["[]", "null", "1", " {}"] {
        assert_eq!(notification(&mut Vec::new(), "n", put(other)), Err(Unencodable), "{other}");
    }
}

#[test]
fn a_response_echoes_the_id_and_requires_an_object_json_06_json_08() {
    for id in ["1", "\"1\"", r#""\u0031""#, "-9"] {
        let id = RequestId::from_json(id.as_bytes()).unwrap();
        let mut out = Vec::new();
        response(&mut out, &id, put("{}")).unwrap();
        let mut spelled = Vec::new();
        id.write(&mut spelled);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            alloc::format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#,
                String::from_utf8(spelled).unwrap()
            )
        );
    }
    for other in ["", "[]", "null"] {
        assert_eq!(
            response(&mut Vec::new(), &RequestId::from(1), put(other)),
            Err(Unencodable),
            "{other:?}"
        );
    }
    assert_eq!(
        response(&mut Vec::new(), &RequestId::from(1), |_| Err(Unencodable)),
        Err(Unencodable)
    );
}

#[test]
fn an_error_has_an_id_null_or_no_id_json_11_json_12() {
    let error = ErrorObject::new(-32700, "no\n").with_data(Raw::from_text("[null]").unwrap());
    let object = json!({"code": -32700, "message": "no\n", "data": [null]});
    let line = |id: Option<RequestId>, null_id| {
        written(|out| {
            error_line(out, id.as_ref(), null_id, &error);
            Ok(())
        })
    };
    for null_id in [true, false] {
        assert_eq!(
            line(Some("a".into()), null_id),
            json!({"jsonrpc": "2.0", "id": "a", "error": object})
        );
    }
    assert_eq!(line(None, true), json!({"jsonrpc": "2.0", "id": null, "error": object}));
    assert_eq!(line(None, false), json!({"jsonrpc": "2.0", "error": object}));
}

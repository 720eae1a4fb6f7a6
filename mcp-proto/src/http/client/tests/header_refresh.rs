//! Tests of calls whose headers the server rejects.

use super::modern::TOOLS;
use super::*;

/// Refuses a call because of its headers.
fn reject(it: &mut Fixture, send: &HttpRequest) {
    let body = error_of(send, -32020);
    it.reply(send, 400, JSON, &body);
}

// HTTP-51
#[test]
fn a_call_with_rejected_headers_is_sent_again_once_after_the_tools_were_listed_http_51() {
    for as_events in [false, true] {
        let mut it = Fixture::modern();
        let params = r#"{"name":"good","arguments":{"region":"x"}}"#;
        let calls: [CallId; 2] = core::array::from_fn(|_| it.call_with("tools/call", Some(params)));
        let sent: [HttpRequest; 2] = core::array::from_fn(|_| it.post("tools/call"));
        assert_eq!(sent[0].header("mcp-param-region"), None);
        if as_events {
            let body = event(&error_of(&sent[0], -32020));
            it.reply(&sent[0], 200, EVENTS, &body);
        } else {
            reject(&mut it, &sent[0]);
        }
        let list = it.post("tools/list");
        reject(&mut it, &sent[1]);
        it.idle();
        // The tool is on the second page.
        let page = result_of(&list, r#"{"tools":[],"nextCursor":"a\"b"}"#);
        it.reply(&list, 200, JSON, &page);
        let list = it.post("tools/list");
        assert!(list.body.windows(15).any(|it| it == br#""cursor":"a\"b""#));
        let page = result_of(&list, &TOOLS.replace(r#","nextCursor":"2""#, ""));
        it.reply(&list, 200, JSON, &page);
        let again: [HttpRequest; 2] = core::array::from_fn(|_| it.post("tools/call"));
        for (again, sent) in again.iter().zip(&sent) {
            assert_eq!(again.header("mcp-param-region"), Some("x"));
            assert_ne!(id_of(again), id_of(sent));
        }
        let body = result_of(&again[0], "{}");
        it.reply(&again[0], 200, JSON, &body);
        // A second rejection is final.
        reject(&mut it, &again[1]);
        let events = it.events();
        assert!(events[0].contains("dropped 3 tools"), "{events:?}");
        assert_eq!(events[1], format!("{}: {{}}", calls[0]));
        assert!(events[2].starts_with(&format!("{}: Refused", calls[1])), "{events:?}");
        it.pass_millis(1000);
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout(), events.len()), (0, None, 3));
    }
}

#[test]
fn a_call_with_rejected_headers_fails_if_the_tools_cannot_be_listed_http_51() {
    let refused = |call: CallId, events: &[String]| {
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].starts_with(&format!("{call}: Refused")), "{events:?}");
    };
    for how in 0..4 {
        let mut it = Fixture::modern();
        let call = it.call_with("tools/call", Some(r#"{"name":"good"}"#));
        let send = it.post("tools/call");
        reject(&mut it, &send);
        let list = it.post("tools/list");
        match how {
            0 => it.reply(&list, 500, PLAIN, ""),
            1 => it.cut(&list),
            2 => {
                let body = error_of(&list, -32603);
                it.reply(&list, 200, JSON, &body);
            }
            _ => {
                it.http.cancel(it.now, call, "").unwrap();
                assert_eq!(it.events(), [format!("{call}: Cancelled")]);
                let page = result_of(&list, r#"{"tools":[]}"#);
                it.reply(&list, 200, JSON, &page);
            }
        }
        if how < 3 {
            refused(call, &it.events());
        }
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None), "{how}");
    }
    // The number of pages is limited.
    let mut it = Fixture::modern();
    let call = it.call_with("tools/call", Some(r#"{"name":"good"}"#));
    let send = it.post("tools/call");
    reject(&mut it, &send);
    for _ in 0..64 {
        let list = it.post("tools/list");
        let page = result_of(&list, r#"{"tools":[],"nextCursor":"more"}"#);
        it.reply(&list, 200, JSON, &page);
    }
    let again = it.post("tools/call");
    reject(&mut it, &again);
    refused(call, &it.events());
    it.idle();
}

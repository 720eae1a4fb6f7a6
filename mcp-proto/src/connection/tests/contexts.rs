//! The context of a request is that of its own bytes, whatever the requests before it carried.

use alloc::format;
use alloc::sync::Arc;

use super::*;
use crate::{Caller, Context, Principal};

const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}"#;
const INFO: &str = r#""io.modelcontextprotocol/clientInfo":{"name":"ada","version":"1"}"#;

/// Contexts that are nearly equal; some are refused.
fn contexts() -> Vec<String> {
    let usual = format!("{VERSION},{CAPABILITIES},{INFO}");
    let members = [
        usual.clone(),
        // One byte differs.
        usual.replace("ada", "eva"),
        usual.replace("elicitation", "elicitatiom"),
        // Another revision, known or not.
        usual.replace("2026-07-28", "2026-07-29"),
        usual.replace("2026-07-28", "2025-11-25"),
        // In another order.
        format!("{INFO},{CAPABILITIES},{VERSION}"),
        // Repeated members: the last one counts.
        format!("{usual},{}", INFO.replace("ada", "eva")),
        format!("{usual},{}", CAPABILITIES.replace("elicitation", "sampling")),
        // Longer, with an equal start.
        format!(r#"{usual},"progressToken":"t""#),
        format!(r#"{usual},"io.modelcontextprotocol/logLevel":"error""#),
        format!(r#"{usual},"io.modelcontextprotocol/logLevel":"loud""#),
        // The start of the others.
        format!("{VERSION},{CAPABILITIES}"),
        VERSION.into(),
        // With white space.
        format!("{usual} "),
        usual.replace(",\"", ",\n\""),
    ];
    members.map(|members| format!("{{{members}}}")).into()
}

fn caller(name: &str) -> Arc<Caller> {
    Arc::new(Caller::new().with_principal(Principal::new(name).unwrap()))
}

/// Sends a call with this context. Returns the context that was delivered, or the error.
fn outcome(server: &mut Server, id: u32, meta: &str, sender: &str) -> Result<Context, String> {
    server.set_caller(Some(caller(sender)));
    receive(
        server,
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call",
            "params":{{"_meta":{meta},"name":"x"}}}}"#
        )
        .replace("\n            ", ""),
    );
    match requests(server).pop() {
        Some((_, _, context)) => Ok(context),
        None => Err(sent(server).concat().replace(&format!("\"id\":{id}"), "\"id\":0")),
    }
}

#[test]
fn a_context_is_never_that_of_another_request_lif_21_cap_14() {
    let contexts = contexts();
    let fresh = |meta: &str, sender| outcome(&mut server(R5, Limits::default()), 1, meta, sender);
    for first in &contexts {
        for second in &contexts {
            let mut server = server(R5, Limits::default());
            // The second sender repeats the bytes of the first one, too.
            let steps = [(first, "ada"), (second, "eva"), (first, "eva"), (first, "ada")];
            for (id, (meta, sender)) in (1..).zip(steps) {
                let found = outcome(&mut server, id, meta, sender);
                assert_eq!(found, fresh(meta, sender), "{first} before {second}, step {id}");
                let Ok(context) = found else { continue };
                assert_eq!(context.principal().map(Principal::id), Some(sender));
                assert_eq!(context.meta.unwrap(), Raw::from_text(meta).unwrap());
            }
        }
    }
}

// STL-20
#[test]
fn a_retry_has_the_params_of_its_own_call_whatever_ended_before() {
    for idle_bytes_max in [0, 64, 4096] {
        let limits = Limits { idle_bytes_max, ..Limits::default() };
        let mut client = client(R5, limits);
        for (round, length) in [100, 3, 3, 100, 1000, 10_000, 30, 0, 3000].into_iter().enumerate() {
            let name = format!("{round}{}", "n".repeat(length));
            call(&mut client, &format!(r#"{{"name":"{name}"}}"#));
            // Each call takes two ids: one for the request, and one for its retry.
            let first = 2 + 2 * round as u64;
            let input = r#"{"resultType":"input_required","requestState":"s"}"#;
            receive(&mut client, format!(r#"{{"jsonrpc":"2.0","id":{first},"result":{input}}}"#));
            let messages = sent(&mut client);
            assert_eq!(messages.len(), 2, "{messages:?}");
            for message in &messages {
                assert_eq!(message.matches(&format!(r#""name":"{name}""#)).count(), 1);
            }
            let retry = first + 1;
            assert!(messages[1].contains(&format!(r#""id":{retry}"#)), "{}", messages[1]);
            assert!(messages[1].contains(r#""requestState":"s""#));
            let result = r#"{"resultType":"complete","content":[]}"#;
            receive(&mut client, format!(r#"{{"jsonrpc":"2.0","id":{retry},"result":{result}}}"#));
            assert!(matches!(outcomes(&mut client)[..], [Ok(_)]));
        }
    }
}

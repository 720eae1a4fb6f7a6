//! Tests of the checks by method, capabilities and params.

use super::*;
use crate::Capability::{
    self, ElicitationForm, ElicitationUrl, Roots, Sampling, SamplingTools, Tools,
};

fn having(capabilities: &[Capability]) -> Capabilities {
    capabilities.iter().fold(Capabilities::none(), |all, capability| all.with(*capability))
}

/// Modern input requests arrive in results.
#[test]
fn input_requests_need_declared_capabilities_cap_04_cap_15_t_96() {
    let rows: &[(&str, Option<&str>, &[Capability], bool)] = &[
        ("roots/list", None, &[Roots], true),
        ("roots/list", Some("{}"), &[Roots], true),
        ("roots/list", Some("[]"), &[Roots], false),
        ("roots/list", None, &[Sampling], false),
        // Mode and tools are optional.
        ("sampling/createMessage", Some("{}"), &[Sampling], true),
        ("sampling/createMessage", Some("{}"), &[Roots], false),
        ("sampling/createMessage", Some(r#"{"tools":[]}"#), &[Sampling], false),
        ("sampling/createMessage", Some(r#"{"tools":[]}"#), &[Sampling, SamplingTools], true),
        ("sampling/createMessage", Some(r#"{"toolChoice":{}}"#), &[Sampling], false),
        // A condition that binds the sender only.
        ("sampling/createMessage", Some(r#"{"includeContext":"allServers"}"#), &[Sampling], true),
        ("elicitation/create", Some(r#"{"message":"m"}"#), &[ElicitationForm], true),
        ("elicitation/create", Some(r#"{"message":"m"}"#), &[ElicitationUrl], false),
        ("elicitation/create", Some(r#"{"message":"m","mode":"url"}"#), &[ElicitationUrl], true),
        ("elicitation/create", Some(r#"{"message":"m","mode":"url"}"#), &[ElicitationForm], false),
        ("elicitation/create", Some(r#"{"message":"m","mode":null}"#), &[ElicitationForm], true),
        ("elicitation/create", Some(r#"{"message":"m","mode":7}"#), &[ElicitationForm], false),
        // An unknown mode counts as undeclared.
        (
            "elicitation/create",
            Some(r#"{"message":"m","mode":"x"}"#),
            &[ElicitationForm, ElicitationUrl],
            false,
        ),
        ("elicitation/create", Some(r#"{"message":1}"#), &[ElicitationForm], false),
        ("elicitation/create", None, &[ElicitationForm], false),
    ];
    for (method, params, ours, is_fit) in rows {
        let method = MethodId::from_name(method).unwrap();
        let rule = MethodRule::question(method, Revision::V2026_07_28).unwrap();
        let params = params.map(str::as_bytes);
        assert_eq!(
            accepts_input_request(rule, params, &having(ours)),
            *is_fit,
            "{method} {params:?} {ours:?}"
        );
    }
}

#[test]
fn methods_are_sent_only_by_the_side_and_in_the_form_of_the_revision_cap_03() {
    let everything = having(&[Tools, Roots]);
    let request = |side, revision, method: &str| {
        let method = MethodId::from_name(method);
        outgoing_request(side, revision, method, b"{}", &everything, false)
            .map(|rule| rule.is_some())
    };
    let notification = |side, revision, method: &str| {
        let method = MethodId::from_name(method);
        outgoing_notification(side, revision, method, &everything, || false)
            .map(|rule| rule.is_some())
    };
    let (old, new) = (Revision::V2024_11_05, Revision::V2026_07_28);
    assert_eq!(request(Side::Client, old, "tools/list"), Ok(true));
    assert_eq!(request(Side::Server, old, "tools/list"), Err(Misuse::Unsupported));
    assert_eq!(request(Side::Client, new, "ping"), Err(Misuse::Unsupported));
    assert_eq!(request(Side::Client, new, "notifications/progress"), Err(Misuse::Unsupported));
    assert_eq!(request(Side::Client, old, "prompts/list"), Err(Misuse::Undeclared));
    assert_eq!(request(Side::Client, new, "com.example/x"), Ok(false));
    assert_eq!(notification(Side::Server, old, "tools/list"), Err(Misuse::Unsupported));
    assert_eq!(
        notification(Side::Client, new, "notifications/roots/list_changed"),
        Err(Misuse::Unsupported)
    );
    assert_eq!(
        notification(Side::Client, old, "notifications/roots/list_changed"),
        Err(Misuse::Undeclared)
    );
    assert_eq!(notification(Side::Client, old, "com.example/x"), Ok(false));
}

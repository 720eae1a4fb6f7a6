//! Declared capabilities, and what may be requested because of them.
// CAP-01…13, CAP-18, CAP-19

#![expect(clippy::unwrap_used, reason = "a test helper may panic")]

use mcp_harness::{ClientSolo, ServerSolo, initialize};
use mcp_proto::schema::{Capabilities, Elicit};
use mcp_proto::{Capability, Misuse, NeededInput, Raw, Revision, client, server};
use serde_json::json;

use Revision::{V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4};

fn bare_server(capabilities: &str, revision: Revision) -> ServerSolo {
    ServerSolo::ready(
        server::Config::new("s", "1").capability(Capability::Tools),
        revision,
        capabilities,
    )
}

fn bare_client(capabilities: &str, revision: Revision) -> ClientSolo {
    ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY),
        revision,
        capabilities,
    )
}

/// Returns the error code of a request to a client with these capabilities.
fn asked(config: client::Config, revision: Revision, method: &str, params: &str) -> i64 {
    let mut solo = ClientSolo::ready(config, revision, "{}");
    solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
    if solo.take_told().is_empty() { solo.hear()["error"]["code"].as_i64().unwrap() } else { 0 }
}

#[test]
fn undeclared_methods_do_not_exist_cap_01_cap_04() {
    for revision in Revision::LEGACY {
        let mut solo = ServerSolo::ready(server::Config::new("s", "1"), revision, "{}");
        for method in [
            "tools/list",
            "tools/call",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "logging/setLevel",
        ] {
            solo.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"a","uri":"a:b","level":"info"}}}}"#));
            solo.expect_error("1", -32601);
        }
        if revision > R1 {
            solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}"#);
            solo.expect_error("1", -32601);
        }
        solo.expect_silence();
    }
}

#[test]
fn a_server_declares_in_the_form_of_the_revision_cap_01() {
    let config = server::Config::new("s", "1")
        .capability(Capability::Completions)
        .capability(Capability::Logging)
        .capability(Capability::PromptsListChanged)
        .capability(Capability::ResourcesSubscribe)
        .capability(Capability::Tools)
        .capability(Capability::TasksToolsCall);
    let declared = |revision: Revision| {
        let mut solo = ServerSolo::server(config.clone());
        solo.say(initialize("1", revision.name(), "{}"));
        solo.expect_result("1")["capabilities"].take()
    };
    let mut expected = json!({
        "logging": {}, "prompts": {"listChanged": true}, "resources": {"subscribe": true},
        "tools": {},
    });
    assert_eq!(declared(R1), expected);
    expected["completions"] = json!({});
    assert_eq!(declared(R2), expected);
    assert_eq!(declared(R3), expected);
    expected["tasks"] = json!({"requests": {"tools": {"call": {}}}});
    assert_eq!(declared(R4), expected);
}

#[test]
fn a_client_declares_in_the_form_of_the_revision_cap_02() {
    let declared = |revision: Revision| {
        let config = client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::Roots)
            .capability(Capability::SamplingTools)
            .capability(Capability::ElicitationForm)
            .capability(Capability::ElicitationUrl)
            .revisions(&[revision]);
        ClientSolo::client(config).hear()["params"]["capabilities"].take()
    };
    assert_eq!(declared(R1), json!({"roots": {}, "sampling": {}}));
    assert_eq!(declared(R2), json!({"roots": {}, "sampling": {}}));
    assert_eq!(declared(R3), json!({"roots": {}, "sampling": {}, "elicitation": {}}));
    assert_eq!(
        declared(R4),
        json!({"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}})
    );
}

#[test]
fn experimental_and_unknown_capabilities_are_kept_cap_18() {
    let experimental = Raw::from_text(r#"{"x":{"y":1}}"#).unwrap();
    let capabilities = Capabilities::none().with_experimental(experimental);
    let mut solo = ServerSolo::server(server::Config::new("s", "1").capabilities(capabilities));
    solo.say(initialize(
        "1",
        "2025-06-18",
        r#"{"experimental":{"a":true},"tools":{},"zzz":[],"roots":{"x":{}}}"#,
    ));
    assert_eq!(solo.expect_result("1")["capabilities"], json!({"experimental": {"x": {"y": 1}}}));
    let peer = mcp_harness::Role::peer(&solo.machine).unwrap();
    assert!(
        peer.has(Capability::Roots)
            && !peer.has(Capability::RootsListChanged)
            && !peer.has(Capability::Tools)
    );
    assert_eq!(peer.capabilities.raw().unwrap().member("zzz").unwrap().as_str(), "[]");
}

#[test]
fn a_client_calls_only_what_was_declared_cap_03() {
    for revision in Revision::LEGACY {
        let mut solo = bare_client("{}", revision);
        for method in [
            "tools/list",
            "tools/call",
            "resources/read",
            "resources/subscribe",
            "prompts/get",
            "logging/setLevel",
        ] {
            assert_eq!(
                solo.call(method, r#"{"name":"a","uri":"a:b","level":"info"}"#),
                Err(Misuse::Undeclared),
                "{method}"
            );
        }
        solo.expect_silence();
        let mut solo = bare_client(r#"{"resources":{"listChanged":true}}"#, revision);
        solo.call("resources/list", "").unwrap();
        assert_eq!(solo.call("resources/subscribe", r#"{"uri":"a:b"}"#), Err(Misuse::Undeclared));
    }
}

#[test]
fn a_server_calls_only_what_was_declared_cap_03() {
    for revision in Revision::LEGACY {
        let mut solo = bare_server("{}", revision);
        assert_eq!(solo.call("roots/list", ""), Err(Misuse::Undeclared));
        assert_eq!(
            solo.call("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
            Err(Misuse::Undeclared)
        );
        let elicited = solo.call("elicitation/create", r#"{"message":"m","requestedSchema":{}}"#);
        assert_eq!(elicited, Err(Misuse::Undeclared));
        assert_eq!(solo.call("tools/list", ""), Err(Misuse::Unsupported), "servers do not send it");
        solo.expect_silence();
    }
}

// TSK-02
#[test]
fn tasks_are_requested_only_if_declared_cap_03() {
    let task = r#"{"name":"t","task":{"ttl":1000}}"#;
    let mut solo = bare_client(r#"{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}"#, R4);
    solo.call("tools/call", task).unwrap();
    let mut solo = bare_client(r#"{"tools":{}}"#, R4);
    assert_eq!(solo.call("tools/call", task), Err(Misuse::Undeclared));
}

// TSK-07
/// Without the capability, `task` has no effect.
#[test]
fn a_receiver_without_the_capability_ignores_task_tsk_07() {
    let mut solo = bare_server("{}", R4);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","task":{"ttl":1000}}}"#);
    assert_eq!(solo.take_events().len(), 1);
    solo.respond(1, r#"{"content":[]}"#).unwrap();
    assert_eq!(solo.expect_result("1"), json!({"content": []}));

    let sampling =
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Sampling);
    let task = r#"{"messages":[],"maxTokens":1,"task":{"ttl":1000}}"#;
    assert_eq!(asked(sampling, R4, "sampling/createMessage", task), 0);
}

#[test]
fn a_client_refuses_what_it_did_not_declare_cap_04_cap_05() {
    let bare = || client::Config::new("c", "1").revisions(&Revision::LEGACY);
    for revision in Revision::LEGACY {
        assert_eq!(asked(bare(), revision, "roots/list", "{}"), -32601);
        assert_eq!(
            asked(bare(), revision, "sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
            -32601
        );
        assert_eq!(asked(bare(), revision, "elicitation/create", r#"{"message":"m"}"#), -32601);
    }
    let elicitation = || bare().capability(Capability::ElicitationForm);
    assert_eq!(
        asked(elicitation(), R2, "elicitation/create", r#"{"message":"m"}"#),
        0,
        "declared modes can be used, even in an older revision"
    );
}

#[test]
fn a_mode_of_elicitation_that_the_client_lacks_is_not_sent_cap_06_cap_08_t_43() {
    let form = r#"{"message":"m","requestedSchema":{}}"#;
    let named = r#"{"mode":"form","message":"m","requestedSchema":{}}"#;
    let url = r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#;
    for (declared, has_form, has_url) in [
        (r#"{"elicitation":{}}"#, true, false),
        (r#"{"elicitation":{"form":{}}}"#, true, false),
        (r#"{"elicitation":{"url":{}}}"#, false, true),
        (r#"{"elicitation":{"url":{},"form":{}}}"#, true, true),
        (r#"{"elicitation":{"later":{}}}"#, false, false),
        (r#"{"elicitation":null}"#, false, false),
        (r#"{"elicitation":{"url":null,"form":false}}"#, true, false),
    ] {
        let mut solo = bare_server(declared, R4);
        let said = |may: bool, done: Result<mcp_proto::CallId, Misuse>| {
            assert_eq!(
                done.map(|_| ()),
                if may { Ok(()) } else { Err(Misuse::Undeclared) },
                "{declared}"
            );
        };
        if !declared.contains("later") {
            said(has_form, solo.call("elicitation/create", form));
            said(has_form, solo.call("elicitation/create", named));
        }
        said(has_url, solo.call("elicitation/create", url));
    }
    let mut solo = bare_server(r#"{"elicitation":{"url":{}}}"#, R4);
    solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);
    let question = NeededInput::from(Elicit::form("m", Raw::empty_object()));
    assert_eq!(solo.ask(1, &[("a", question)], None), Err(Misuse::Undeclared));
}

#[test]
fn a_mode_of_elicitation_that_was_not_declared_is_refused_cap_07_cap_08() {
    let form = r#"{"message":"m","requestedSchema":{}}"#;
    let url = r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e"}"#;
    let forms = || {
        client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::ElicitationForm)
    };
    let urls = || {
        client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::ElicitationUrl)
    };
    assert_eq!(asked(forms(), R4, "elicitation/create", form), 0);
    assert_eq!(asked(forms(), R4, "elicitation/create", url), -32602);
    assert_eq!(asked(urls(), R4, "elicitation/create", form), -32602);
    assert_eq!(asked(urls(), R4, "elicitation/create", url), 0);
}

/// No capability covers a mode that the revision does not define.
#[test]
fn an_unknown_mode_of_elicitation_is_neither_sent_nor_served_cap_06_cap_07_cap_16() {
    let everything = r#"{"elicitation":{"form":{},"url":{},"x":{}}}"#;
    for mode in [r#""x""#, r#""Form""#, r#""""#, "7", "{}"] {
        let params = format!(r#"{{"message":"m","requestedSchema":{{}},"mode":{mode}}}"#);
        for declared in ["{}", everything] {
            let mut solo = bare_server(declared, R4);
            let refused = solo.call("elicitation/create", &params);
            assert_eq!(refused, Err(Misuse::Unsupported), "{mode} {declared}");
            solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#);
            let question = NeededInput::raw("elicitation/create", Raw::from_text(&params).unwrap());
            let refused = solo.ask(1, &[("a", question)], None);
            assert_eq!(refused, Err(Misuse::Unsupported), "{mode} {declared}");
            solo.expect_lines(&[]);
        }
        let both = client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::ElicitationForm)
            .capability(Capability::ElicitationUrl);
        assert_eq!(asked(both, R4, "elicitation/create", &params), -32602, "{mode}");
    }
    let unnamed = r#"{"message":"m","requestedSchema":{},"mode":null}"#;
    let forms = client::Config::new("c", "1")
        .revisions(&Revision::LEGACY)
        .capability(Capability::ElicitationForm);
    assert_eq!(asked(forms, R4, "elicitation/create", unnamed), 0, "no mode is a form");
}

/// The modern era asks within results.
// CAP-16
#[test]
fn a_modern_server_puts_no_unknown_mode_into_its_input_requests_cap_16() {
    for (params, asked) in [
        (r#"{"message":"m","requestedSchema":{},"mode":"x"}"#, Err(Misuse::Unsupported)),
        (r#"{"message":"m","requestedSchema":{},"mode":"form"}"#, Ok(())),
    ] {
        let mut solo =
            ServerSolo::server(server::Config::new("s", "1").capability(Capability::Tools));
        solo.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}"#);
        let question = NeededInput::raw("elicitation/create", Raw::from_text(params).unwrap());
        assert_eq!(solo.ask(1, &[("a", question)], None), asked, "{params}");
    }
}

#[test]
fn sampling_with_tools_needs_to_be_declared_cap_09_cap_10() {
    let plain = r#"{"messages":[],"maxTokens":1}"#;
    let tools = r#"{"messages":[],"maxTokens":1,"tools":[]}"#;
    let choice = r#"{"messages":[],"maxTokens":1,"toolChoice":{"mode":"auto"}}"#;
    let mut solo = bare_server(r#"{"sampling":{}}"#, R4);
    solo.call("sampling/createMessage", plain).unwrap();
    assert_eq!(solo.call("sampling/createMessage", tools), Err(Misuse::Undeclared));
    assert_eq!(solo.call("sampling/createMessage", choice), Err(Misuse::Undeclared));
    let mut solo = bare_server(r#"{"sampling":{"tools":{}}}"#, R4);
    solo.call("sampling/createMessage", tools).unwrap();

    let sampling = || {
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Sampling)
    };
    assert_eq!(asked(sampling(), R4, "sampling/createMessage", plain), 0);
    assert_eq!(asked(sampling(), R4, "sampling/createMessage", tools), -32602);
    assert_eq!(asked(sampling(), R4, "sampling/createMessage", choice), -32602);
    let with_tools = client::Config::new("c", "1")
        .revisions(&Revision::LEGACY)
        .capability(Capability::SamplingTools);
    assert_eq!(asked(with_tools, R4, "sampling/createMessage", tools), 0);
}

#[test]
fn sampling_with_context_of_servers_needs_to_be_declared_cap_11() {
    let with =
        |context: &str| format!(r#"{{"messages":[],"maxTokens":1,"includeContext":"{context}"}}"#);
    let mut solo = bare_server(r#"{"sampling":{}}"#, R4);
    solo.call("sampling/createMessage", &with("none")).unwrap();
    assert_eq!(solo.call("sampling/createMessage", &with("thisServer")), Err(Misuse::Undeclared));
    assert_eq!(solo.call("sampling/createMessage", &with("allServers")), Err(Misuse::Undeclared));
    let mut solo = bare_server(r#"{"sampling":{"context":{}}}"#, R4);
    solo.call("sampling/createMessage", &with("thisServer")).unwrap();
    let mut solo = bare_server(r#"{"sampling":{}}"#, R3);
    solo.call("sampling/createMessage", &with("thisServer")).unwrap();
}

#[test]
fn changes_are_announced_only_if_declared_cap_12() {
    let all = [
        (Capability::ToolsListChanged, "notifications/tools/list_changed"),
        (Capability::PromptsListChanged, "notifications/prompts/list_changed"),
        (Capability::ResourcesListChanged, "notifications/resources/list_changed"),
    ];
    for (declared, _) in all {
        for revision in Revision::LEGACY {
            let mut solo = ServerSolo::ready(
                server::Config::new("s", "1").capability(declared),
                revision,
                "{}",
            );
            for (capability, method) in all {
                let told = solo.notify(method, "");
                assert_eq!(
                    told,
                    if capability == declared { Ok(()) } else { Err(Misuse::Undeclared) }
                );
            }
            assert_eq!(solo.take_lines().len(), 1);
        }
    }
}

#[test]
fn a_client_announces_changed_roots_if_declared_cap_13() {
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1")
            .revisions(&Revision::LEGACY)
            .capability(Capability::RootsListChanged),
        R3,
        "{}",
    );
    solo.notify("notifications/roots/list_changed", "").unwrap();
    solo.expect_lines(&[r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#]);
    let mut solo = ClientSolo::ready(
        client::Config::new("c", "1").revisions(&Revision::LEGACY).capability(Capability::Roots),
        R3,
        "{}",
    );
    assert_eq!(solo.notify("notifications/roots/list_changed", ""), Err(Misuse::Undeclared));
}

#[test]
fn presence_declares_a_capability_cap_18_t_41() {
    for (value, declared) in
        [("{}", true), ("true", true), (r#"{"x":1}"#, true), ("false", false), ("null", false)]
    {
        let mut solo = bare_client(&format!(r#"{{"tools":{value}}}"#), R3);
        assert_eq!(solo.call("tools/list", "").is_ok(), declared, "{value}");
        let mut solo = bare_server(&format!(r#"{{"roots":{value}}}"#), R3);
        assert_eq!(solo.call("roots/list", "").is_ok(), declared, "{value}");
    }
    for (value, declared) in [("true", true), ("false", false), ("null", false)] {
        let solo = bare_client(&format!(r#"{{"tools":{{"listChanged":{value}}}}}"#), R3);
        assert_eq!(
            mcp_harness::Role::peer(&solo.machine).unwrap().has(Capability::ToolsListChanged),
            declared
        );
    }
}

#[test]
fn odd_capabilities_do_not_break_a_handshake_cap_18() {
    for odd in ["[]", "null", "7", r#"{"roots":[],"sampling":7}"#] {
        let mut solo = ServerSolo::server(server::Config::new("s", "1"));
        solo.say(initialize("1", "2025-06-18", odd));
        solo.expect_result("1");
    }
}

#[test]
fn completions_need_no_declaration_in_the_first_revision_cap_19() {
    let mut solo = bare_client("{}", R1);
    solo.call("completion/complete", "{}").unwrap();
    solo.say(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#);
    solo.expect_events(&[r#"call#2 refused -32601 "no""#]);
    let mut solo = bare_client("{}", R2);
    assert_eq!(solo.call("completion/complete", "{}"), Err(Misuse::Undeclared));
    let mut solo = bare_client(r#"{"completions":{}}"#, R2);
    solo.call("completion/complete", "{}").unwrap();
}

#[test]
fn methods_of_other_revisions_are_not_sent() {
    let mut solo = bare_client(r#"{"tools":{},"tasks":{}}"#, R3);
    for method in [
        "server/discover",
        "subscriptions/listen",
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "initialize",
    ] {
        assert_eq!(solo.call(method, r#"{"taskId":"t"}"#), Err(Misuse::Unsupported), "{method}");
    }
    assert_eq!(
        solo.notify("notifications/tasks/status", r#"{"taskId":"t"}"#),
        Err(Misuse::Unsupported)
    );
    for internal in
        ["notifications/initialized", "notifications/cancelled", "notifications/progress"]
    {
        assert_eq!(
            solo.notify(internal, r#"{"requestId":1}"#),
            Err(Misuse::Unsupported),
            "{internal}"
        );
    }
    solo.call("com.example/x", "").unwrap();
}

#[test]
fn requests_and_notifications_are_not_interchangeable_cap_03() {
    let mut solo = bare_client(r#"{"tools":{}}"#, R4);
    for request in ["roots/list", "tools/list", "ping", "server/discover"] {
        assert_eq!(solo.notify(request, ""), Err(Misuse::Unsupported), "{request}");
    }
    for notification in ["notifications/cancelled", "notifications/tools/list_changed"] {
        assert_eq!(solo.call(notification, ""), Err(Misuse::Unsupported), "{notification}");
    }
    solo.expect_silence();
}

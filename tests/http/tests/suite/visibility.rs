//! Entries that only some principals see.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_adapter::http::RequestHead;
use mcp_adapter::proto::Principal;
use mcp_adapter::proto::catalog::ChangedList;
use mcp_adapter::proto::schema::{self, PromptArgument};
use mcp_adapter::{Changes, Lists, Prompt, Server, Tool, Unregistered};
use mcp_blocking::http::Http;
use mcp_http_tests::{Reply, Request, Runtime, Served, get, modern, post, rows, server, tool};
use serde_json::{Value, json};

use crate::principals::{ADA, EVE, User, user, within};

rows! {
    hidden_entries_do_not_exist_in_either_era_sec_02,
    lists_and_their_pages_hold_visible_entries_only,
    a_filter_that_panics_fails_the_request,
    each_entry_is_decided_on_once_per_request,
    changed_visibility_is_announced_to_its_principal_only,
    lists_are_cached_as_declared_and_filtered_ones_privately_stl_39,
}

/// The principals who see the entries named `secret`.
type Insiders = Arc<Mutex<BTreeSet<String>>>;

/// Builds a server with entries that only Ada sees at first.
fn vault() -> (Server, Insiders) {
    let insiders: Insiders = Arc::new(Mutex::new(BTreeSet::from(["ada".to_owned()])));
    let knows = Arc::clone(&insiders);
    let mut server = Server::new("vault", "1.0.0");
    for name in ["shown", "secret", "other"] {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"}}});
        let prompt = schema::Prompt::new(name).arguments([PromptArgument::new("who")]);
        let mirrored = schema::Tool::new(name, raw(&schema));
        server = server
            .add(Tool::define(mirrored, || "called"))
            .resource(&format!("note://{name}"), name, || "a note")
            .add(Prompt::define(prompt, || "hi").completion("who", || vec!["Ada".to_owned()]));
    }
    let server = server.lists(Lists::new().page_max(1).visible_to(move |entry, cx| {
        assert!(cx.data::<RequestHead>().is_some(), "{cx:?}");
        let insiders = knows.lock().unwrap();
        let is_insider = cx.principal().is_some_and(|caller| insiders.contains(caller.id()));
        is_insider || !entry.name().contains("secret")
    }));
    (server, insiders)
}

fn raw(value: &Value) -> mcp_adapter::proto::Raw {
    mcp_adapter::proto::Raw::new(value).unwrap()
}

fn named(list: &str, name: &str) -> (String, Value) {
    let params = match list {
        "tools/call" => json!({"name": name, "arguments": {"region": "north"}}),
        "prompts/get" => json!({"name": name}),
        "resources/read" | "resources/subscribe" => json!({"uri": format!("note://{name}")}),
        _ => json!({"ref": {"type": "ref/prompt", "name": name},
            "argument": {"name": "who", "value": ""}}),
    };
    (list.to_owned(), params)
}

/// Sends a request in a legacy session, or in the modern era without one.
fn ask(
    user: User,
    served: &Served,
    session: Option<&str>,
    (method, params): (String, Value),
) -> Reply {
    if let Some(session) = session {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        return user.asks(within(session, post(&request)), served);
    }
    let request = modern(&method, params.clone());
    user.asks(
        match params["uri"].as_str() {
            Some(uri) => request.field("Mcp-Name", uri),
            None => request,
        },
        served,
    )
}

// SEC-02
fn hidden_entries_do_not_exist_in_either_era_sec_02<R: Runtime>() {
    let (mut server, _insiders) = vault();
    let _changes = server.changes();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let (ada, eve) = (ADA.opens(&served), EVE.opens(&served));
    let methods = ["tools/call", "prompts/get", "resources/read", "completion/complete"];
    for (ada, eve) in [(Some(&*ada), Some(&*eve)), (None, None)] {
        for method in methods.into_iter().chain(eve.map(|_| "resources/subscribe")) {
            let told = |name| {
                let mut reply = ask(EVE, &served, eve, named(method, name));
                (reply.status, reply.answer())
            };
            let (hidden, absent) = (told("secret"), told("absent"));
            assert!(hidden.1["error"].is_object(), "{method}: {hidden:?}");
            let renamed = hidden.1.to_string().replace("secret", "absent");
            assert_eq!((hidden.0, renamed), (absent.0, absent.1.to_string()), "{method}");
            let (method, params) = named(method, "secret");
            // The header of a visible tool is checked.
            let answer = ask(ADA, &served, ada, (method.clone(), params)).answer();
            let is_checked = method == "tools/call" && ada.is_none();
            assert_eq!(answer["error"].is_object(), is_checked, "{method}: {answer}");
        }
    }
    let listen = |user: User| {
        let filter = json!({"notifications": {"resourceSubscriptions": ["note://secret"]}});
        let mut listening = user.asks(modern("subscriptions/listen", filter), &served);
        let acknowledged = listening.message().unwrap();
        acknowledged["params"]["notifications"]["resourceSubscriptions"].clone()
    };
    assert_eq!((listen(ADA), listen(EVE)), (json!(["note://secret"]), Value::Null));
}

fn each_entry_is_decided_on_once_per_request<R: Runtime>() {
    let fallbacks = || {
        Unregistered::new()
            .tool_fallback(|call: schema::CallTool| call.name)
            .prompt_fallback(|get: schema::GetPrompt| get.name)
    };
    for (hides, has_fallbacks) in [(false, false), (false, true), (true, false), (true, true)] {
        let decisions = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&decisions);
        let lists = Lists::new().visible_to(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            true
        });
        let server = vault().0.lists(if hides { lists.hide_forbidden() } else { lists });
        let server = if has_fallbacks { server.add(fallbacks()) } else { server };
        let served = Served::on::<R>(server, Http::new().authenticating(user));
        let session = ADA.opens(&served);
        for method in ["tools/call", "prompts/get", "resources/read", "completion/complete"] {
            for session in [Some(&*session), None] {
                let what = format!("{method} {session:?} {hides} {has_fallbacks}");
                let (method, params) = named(method, "shown");
                let region = |request: Request| request.field("Mcp-Param-Region", "north");
                let mut reply = match session {
                    None if method == "tools/call" => {
                        ADA.asks(region(modern(&method, params)), &served)
                    }
                    session => ask(ADA, &served, session, (method, params)),
                };
                assert!(reply.answer()["result"].is_object(), "{what}");
                assert_eq!(decisions.swap(0, Ordering::SeqCst), 1, "{what}");
            }
        }
    }
}

/// Returns the names of a list, one entry a page.
fn names(user: User, served: &Served, session: Option<&str>, list: &str) -> Vec<String> {
    let member = list.split('/').next().unwrap();
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let request = (list.to_owned(), params);
        let page = ask(user, served, session, request).answer()["result"].take();
        let [entry] = &page[member].as_array().unwrap()[..] else { panic!("{page}") };
        names.push(entry["name"].as_str().unwrap().to_owned());
        let Some(cursor) = page.get("nextCursor") else { return names };
        assert!(!cursor.as_str().unwrap().contains(char::is_numeric), "{cursor}");
        params = json!({"cursor": cursor});
    }
}

fn lists_and_their_pages_hold_visible_entries_only<R: Runtime>() {
    let (server, insiders) = vault();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let (ada, eve) = (ADA.opens(&served), EVE.opens(&served));
    for (ada, eve) in [(Some(&*ada), Some(&*eve)), (None, None)] {
        for list in ["tools/list", "prompts/list", "resources/list"] {
            assert_eq!(names(ADA, &served, ada, list)[..], ["shown", "secret", "other"], "{list}");
            assert_eq!(names(EVE, &served, eve, list)[..], ["shown", "other"], "{list}");
        }
    }
    // The next request sees another decision.
    insiders.lock().unwrap().clear();
    assert_eq!(names(ADA, &served, Some(&ada), "tools/list")[..], ["shown", "other"]);
}

fn a_filter_that_panics_fails_the_request<R: Runtime>() {
    let server = server().add(Tool::define(tool("one"), || "called"));
    let server = server.lists(Lists::new().visible_to(|entry, _| {
        assert!(entry.name() != "one", "on purpose");
        true
    }));
    let served = Served::on::<R>(server, Http::new());
    for request in [("tools/list", json!({})), ("tools/call", json!({"name": "one"}))] {
        let answer = modern(request.0, request.1).send(served.address).answer();
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("purpose"), "{answer}");
    }
}

fn tell_ada(changes: &Changes) {
    let ada = Principal::new("ada").unwrap();
    changes.visibility_changed(&ada, &[ChangedList::Tools, ChangedList::Prompts]).unwrap();
    // For everyone, after it.
    changes.resources_list_changed().unwrap();
}

fn changed_visibility_is_announced_to_its_principal_only<R: Runtime>() {
    let (mut server, _insiders) = vault();
    let changes = server.changes();
    let served = Served::on::<R>(server, Http::new().authenticating(user));
    let method = |stream: &mut Reply| stream.message().unwrap()["method"].clone();
    let wanted = json!({"notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}});
    let listen = |user: User, is_modern: bool| {
        if !is_modern {
            let session = user.opens(&served);
            return user.asks(within(&session, get(&session)), &served);
        }
        let mut listening = user.asks(modern("subscriptions/listen", wanted.clone()), &served);
        assert_eq!(method(&mut listening), "notifications/subscriptions/acknowledged");
        listening
    };
    for is_modern in [false, true] {
        let (mut adas, mut eves) = (listen(ADA, is_modern), listen(EVE, is_modern));
        tell_ada(&changes);
        assert_eq!(method(&mut adas), "notifications/tools/list_changed");
        assert_eq!(method(&mut adas), "notifications/prompts/list_changed");
        for stream in [&mut adas, &mut eves] {
            assert_eq!(method(stream), "notifications/resources/list_changed");
        }
    }
}

// STL-39, STL-44
fn lists_are_cached_as_declared_and_filtered_ones_privately_stl_39<R: Runtime>() {
    let hints = |server: Server| {
        let server = server.add(Tool::define(tool("one"), || "called"));
        let served = Served::on::<R>(server, Http::new());
        let page = modern("tools/list", json!({})).send(served.address).answer()["result"].take();
        (page["ttlMs"].clone(), page["cacheScope"].clone())
    };
    let cached = || server().lists(Lists::new().ttl(std::time::Duration::from_secs(2)));
    assert_eq!(hints(server()), (json!(0), json!("private")));
    assert_eq!(hints(cached()), (json!(2000), json!("private")));
    assert_eq!(
        hints(cached().lists(Lists::new().cache_publicly())),
        (json!(2000), json!("public"))
    );
    let filtered = cached().lists(Lists::new().cache_publicly().visible_to(|_, _| true));
    assert_eq!(hints(filtered), (json!(2000), json!("private")));
}

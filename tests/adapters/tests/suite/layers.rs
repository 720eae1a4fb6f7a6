//! Layers around the requests of a server, with async and plain handlers.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::layers::{Incoming, Next, Outcome, Response, only};
use mcp_adapter::proto::schema::{
    self, CallToolResult, Complete, CompletionArgument, GetPrompt, ListTools, PromptArgument,
    PromptReference, ReadResource,
};
use mcp_adapter::proto::{ErrorObject, Raw, code};
use mcp_adapter::{Cx, HandlerError, Prompt, Server, Tool};
use mcp_adapter_tests::{
    Runtime, Tokio, TokioThreads, call_by_hand, client, failure, full_server, on, pair, refusal,
    rows, serve_by_hand, server, success, tool,
};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded, unbounded};

rows! {
    every_request_passes_the_layers_from_the_outermost_to_the_handler_and_back,
    a_layer_answers_without_the_handler,
    a_layer_for_some_requests_sees_no_others,
    layers_see_how_requests_end,
    layers_pass_values_to_handlers,
    a_layer_that_waits_delays_no_other_request,
    a_layer_sleeps_on_any_runtime,
    a_panic_of_a_layer_fails_only_its_request,
    a_cancelled_request_drops_its_layers,
    layers_end_with_their_connection,
    a_function_runs_to_its_end_although_its_request_is_cancelled,
}

type Notes = Arc<Mutex<Vec<String>>>;

fn take(notes: &Notes) -> Vec<String> {
    std::mem::take(&mut *notes.lock().unwrap())
}

/// Adds a layer that notes each request on its way in and on its way out.
fn noting(server: Server, name: &'static str, notes: &Notes) -> Server {
    let notes = Arc::clone(notes);
    server.layer(move |request: Incoming, next: Next| {
        let notes = Arc::clone(&notes);
        async move {
            let what = request.name().map(String::from).unwrap_or_default();
            notes.lock().unwrap().push(format!("{name} {} {what}", request.method()));
            let response = next.run(request).await;
            notes.lock().unwrap().push(format!("{name} {}", response.outcome().as_str()));
            response
        }
    })
}

async fn every_request_passes_the_layers_from_the_outermost_to_the_handler_and_back<R: Runtime>() {
    let notes = Notes::default();
    let prompt = schema::Prompt::new("greet").arguments(vec![PromptArgument::new("name")]);
    let server = full_server().resource("note://two", "two", || "text").add(
        Prompt::define(prompt, || Err::<&str, _>(HandlerError::failed("no")))
            .completion("name", || vec!["Ada".to_owned()]),
    );
    let server = noting(noting(server, "outer", &notes), "inner", &notes);
    let (connection, serving) = pair::<R>(client(), server).await;
    let expect = |what: &str, outcome: &str| {
        let expected = [
            format!("outer {what}"),
            format!("inner {what}"),
            format!("inner {outcome}"),
            format!("outer {outcome}"),
        ];
        assert_eq!(take(&notes), expected);
    };
    for name in ["echo", "echo_plain"] {
        assert_eq!(success(connection.call_tool(name, &json!({"text": "a"})).await), "a");
        expect(&format!("tools/call {name}"), "success");
    }
    connection.call(ReadResource::new("note://two")).await.unwrap();
    expect("resources/read note://two", "success");
    let failed = connection.call(GetPrompt::new("greet")).await;
    assert_eq!(refusal(failed).code, code::INTERNAL_ERROR);
    expect("prompts/get greet", "error");
    let reference = PromptReference::new("greet");
    connection.call(Complete::new(reference, CompletionArgument::new("name", "A"))).await.unwrap();
    expect("completion/complete greet", "success");
    connection.call(ListTools::new()).await.unwrap();
    expect("tools/list ", "success");
    assert_eq!(refusal(connection.call_tool("missing", &json!({})).await).code, -32602);
    expect("tools/call missing", "error");
    // The protocol itself refuses unknown methods.
    let unknown = connection.call_raw("no/such/method", Raw::empty_object()).await;
    assert_eq!((refusal(unknown).code, take(&notes)), (code::METHOD_NOT_FOUND, Vec::new()));
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn a_layer_for_some_requests_sees_no_others<R: Runtime>() {
    let seen = Notes::default();
    let noted = Arc::clone(&seen);
    let layer = move |request: Incoming, next: Next| {
        noted.lock().unwrap().push(request.method().to_owned());
        next.run(request)
    };
    let server =
        full_server().layer(only(|request: &Incoming| request.method() == "tools/call", layer));
    let (connection, _serving) = pair::<R>(client(), server).await;
    connection.call(ListTools::new()).await.unwrap();
    for name in ["echo", "echo_plain"] {
        assert_eq!(success(connection.call_tool(name, &json!({"text": "a"})).await), "a");
    }
    assert_eq!(take(&seen), ["tools/call", "tools/call"]);
}

async fn a_layer_answers_without_the_handler<R: Runtime>() {
    let runs = Arc::new(AtomicUsize::new(0));
    let (plain, future) = (Arc::clone(&runs), Arc::clone(&runs));
    let server = server()
        .add(Tool::define(tool("plain"), move || {
            plain.fetch_add(1, Ordering::SeqCst);
            "ran"
        }))
        .add(Tool::define(tool("async"), move || {
            future.fetch_add(1, Ordering::SeqCst);
            async { "ran" }
        }))
        .layer(|request: Incoming, next: Next| async move {
            let how: Value = request.arguments().unwrap().parse().unwrap();
            match how["how"].as_str() {
                Some("error") => ErrorObject::new(-32001, "log in").into(),
                Some("failure") => HandlerError::failed("not now").into(),
                Some("result") => Response::result(CallToolResult::text("cached")),
                _ => next.run(request).await,
            }
        });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["plain", "async"] {
        let call = async |how: &str| connection.call_tool(name, &json!({"how": how})).await;
        let error = refusal(call("error").await);
        assert_eq!((error.code, &*error.message), (-32001, "log in"));
        assert_eq!(failure(call("failure").await), "not now");
        assert_eq!(success(call("result").await), "cached");
        assert_eq!(runs.swap(0, Ordering::SeqCst), 0);
        assert_eq!(success(call("run").await), "ran");
        assert_eq!(runs.swap(0, Ordering::SeqCst), 1);
    }
}

async fn layers_see_how_requests_end<R: Runtime>() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let layer = Arc::clone(&seen);
    let server = full_server()
        .add(Tool::define(tool("bad_result"), || CallToolResult::error("it failed")))
        .layer(move |request: Incoming, next: Next| {
            let seen = Arc::clone(&layer);
            async move {
                let response = next.run(request).await;
                let code = response.error().map(|error| error.code);
                seen.lock().unwrap().push((response.outcome(), code));
                response
            }
        });
    let (connection, _serving) = pair::<R>(client(), server).await;
    let mut expected = Vec::new();
    for kind in ["", "_plain"] {
        for (name, outcomes) in [
            ("echo", &[(Outcome::Success, None)][..]),
            ("fail", &[(Outcome::ToolError, None)]),
            ("refuse", &[(Outcome::Error, Some(code::INVALID_PARAMS))]),
            ("panic", &[(Outcome::Error, Some(code::INTERNAL_ERROR))]),
            ("who", &[(Outcome::InputRequired, None), (Outcome::Success, None)]),
        ] {
            let _outcome = connection.call_tool(&format!("{name}{kind}"), &json!({})).await;
            expected.extend_from_slice(outcomes);
        }
    }
    let _failed = connection.call_tool("bad_result", &json!({})).await;
    expected.push((Outcome::ToolError, None));
    assert_eq!(*seen.lock().unwrap(), expected);
}

struct Tenant(&'static str);

async fn layers_pass_values_to_handlers<R: Runtime>() {
    let tenant = |cx: &Cx| Ok(cx.extension::<Tenant>().ok_or("none")?.0);
    let server = server()
        .add(Tool::define(tool("plain"), move |cx: Cx| tenant(&cx)))
        .add(Tool::define(tool("async"), move |cx: Cx| async move { tenant(&cx) }))
        .layer(|request: Incoming, next: Next| async move {
            assert!(request.extension::<Tenant>().is_none());
            request.set_extension(Tenant("first"));
            next.run(request).await
        })
        .layer(|request: Incoming, next: Next| async move {
            assert_eq!(request.extension::<Tenant>().unwrap().0, "first");
            request.set_extension(Tenant("second"));
            next.run(request).await
        });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["plain", "async"] {
        assert_eq!(success(connection.call_tool(name, &json!({})).await), "second");
    }
}

/// Adds a layer that waits for a message on a channel if the request's text is `wait`.
fn gated(server: Server) -> (Server, Sender<()>, Receiver<()>) {
    let (give, given) = bounded::<()>(1);
    let (waits, waiting) = unbounded();
    let server = server.layer(move |request: Incoming, next: Next| {
        let (given, waits) = (given.clone(), waits.clone());
        async move {
            let arguments: Value = request.arguments().unwrap().parse().unwrap();
            if arguments["text"] == "wait" {
                waits.send(()).await.unwrap();
                given.recv().await.unwrap();
            }
            next.run(request).await
        }
    });
    (server, give, waiting)
}

/// The plain handler proves quick first, so that it runs on the thread that drives its connection.
async fn a_layer_that_waits_delays_no_other_request<R: Runtime>() {
    let (server, give, waiting) = gated(full_server());
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        let call = async |text: &str| connection.call_tool(name, &json!({"text": text})).await;
        for _ in 0..100 {
            assert_eq!(success(call("quick").await), "quick");
        }
        let waits = connection.call_tool(name, &json!({"text": "wait"})).start().await.unwrap();
        waiting.recv().await.unwrap();
        for _ in 0..20 {
            assert_eq!(success(call("quick").await), "quick");
        }
        give.send(()).await.unwrap();
        assert_eq!(success(waits.await), "wait");
    }
}

async fn a_layer_sleeps_on_any_runtime<R: Runtime>() {
    let server = full_server().layer(|request: Incoming, next: Next| async move {
        request.cx().sleep(Duration::from_millis(1)).await;
        next.run(request).await
    });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        for _ in 0..40 {
            assert_eq!(success(connection.call_tool(name, &json!({"text": "a"})).await), "a");
        }
    }
    assert!(connection.list_tools().await.unwrap().len() > 10);
}

async fn a_panic_of_a_layer_fails_only_its_request<R: Runtime>() {
    let server = full_server()
        .layer(|request: Incoming, next: Next| {
            assert_ne!(request.name().as_deref(), Some("count_plain"), "a secret");
            next.run(request)
        })
        .layer(|request: Incoming, next: Next| async move {
            let name = request.name();
            let response = next.run(request).await;
            assert_ne!(name.as_deref(), Some("count"), "a secret");
            response
        });
    let (connection, serving) = pair::<R>(client(), server).await;
    for name in ["count", "count_plain"] {
        let error = refusal(connection.call_tool(name, &json!({})).await);
        assert_eq!((error.code, &*error.message), (code::INTERNAL_ERROR, "the handler failed"));
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        assert_eq!(success(connection.call_tool("echo_plain", &json!({"text": "on"})).await), "on");
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

/// Sends a message when dropped.
struct Guard(Sender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ignored = self.0.try_send("over");
    }
}

/// Returns a server whose layer waits forever, and what the layer reports.
fn stuck() -> (Server, Receiver<&'static str>) {
    let (says, heard) = unbounded();
    let server = full_server().layer(move |request: Incoming, _: Next| {
        let says = says.clone();
        async move {
            let _guard = Guard(says.clone());
            says.send("begun").await.unwrap();
            drop(request);
            pending().await
        }
    });
    (server, heard)
}

async fn a_cancelled_request_drops_its_layers<R: Runtime>() {
    let (server, heard) = stuck();
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        let call = connection.call_tool(name, &json!({})).start().await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), "begun");
        call.cancel("a test cancels");
        assert_eq!(heard.recv().await.unwrap(), "over");
    }
}

async fn layers_end_with_their_connection<R: Runtime>() {
    let (server, heard) = stuck();
    let (hand, serving) = serve_by_hand::<R>(server).await;
    let hand = call_by_hand(hand, |hand| {
        hand.call_tool(1, "echo", &json!({}));
        hand.call_tool(2, "echo_plain", &json!({}));
    })
    .await;
    assert_eq!((heard.recv().await.unwrap(), heard.recv().await.unwrap()), ("begun", "begun"));
    drop(hand);
    assert_eq!((heard.recv().await.unwrap(), heard.recv().await.unwrap()), ("over", "over"));
    serving.ends_well().await;
}

async fn a_function_runs_to_its_end_although_its_request_is_cancelled<R: Runtime>() {
    let (says, heard) = unbounded();
    let layer = says.clone();
    let server = server()
        .add(Tool::define(tool("hang"), move |cx: Cx| {
            says.send_blocking("begun")?;
            let is_cancelled = cx.sleep(Duration::MAX).wait();
            says.send_blocking("over")?;
            Ok(is_cancelled.to_string())
        }))
        .layer(move |request: Incoming, next: Next| {
            let layer = layer.clone();
            async move {
                let response = next.run(request).await;
                layer.try_send(response.outcome().as_str()).unwrap();
                response
            }
        });
    let (connection, _serving) = pair::<R>(client(), server).await;
    let call = connection.call_tool("hang", &json!({})).start().await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), "begun");
    call.cancel("a test cancels");
    assert_eq!(heard.recv().await.unwrap(), "over");
    assert_eq!(heard.recv().await.unwrap(), "success");
}

async fn runtime_sleep<R: Runtime>() {
    let server = full_server().layer(|request: Incoming, next: Next| async move {
        tokio::time::sleep(Duration::from_millis(1)).await;
        next.run(request).await
    });
    let (connection, _serving) = pair::<R>(client(), server).await;
    for name in ["echo", "echo_plain"] {
        for _ in 0..40 {
            assert_eq!(success(connection.call_tool(name, &json!({"text": "a"})).await), "a");
        }
    }
}

/// Also on threads of the pool, which do not belong to the runtime.
#[test]
fn layers_may_use_the_timers_of_tokio() {
    on::<Tokio, _>(runtime_sleep::<Tokio>);
    on::<TokioThreads, _>(runtime_sleep::<TokioThreads>);
}

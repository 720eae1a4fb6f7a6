//! A gateway: a server whose handlers relay calls to another server, whose questions reach the user
//! of the call. Both sides in both eras.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::proto::client::Config;
use mcp_adapter::proto::schema::{
    CallTool, CallToolResult, CreateMessage, CreateMessageResult, Decode as _, Elicit,
    ElicitResult, ElicitUrl, InputRequired, ListRootsResult, Role, Root, SamplingMessage,
};
use mcp_adapter::proto::{CallError, CallId, Capability, NeededInput, Progress, Revision};
use mcp_adapter::{
    Client, ClientCx, Connection, Cx, Error, HandlerError, Server, State, Tool, Unregistered,
};
use mcp_adapter_tests::{
    Runtime, Serving, failure, form, full_server, pair, raw, refusal, rows, server, success, tool,
};
use serde_json::{Value, json};
use smol::channel::{Receiver, Sender, bounded, unbounded};

rows! {
    questions_reach_the_user_of_the_call,
    progress_and_errors_pass_through,
    a_user_who_leaves_ends_the_call,
    a_call_that_ends_while_its_user_answers_says_why,
    a_question_that_the_client_cannot_answer_names_the_client,
    an_ambiguous_question_reaches_no_user,
    calls_of_one_user_may_ask_concurrently,
    an_answer_is_taken_once,
    a_run_relays_one_call,
    a_waiting_request_learns_of_its_cancellation,
    a_call_can_have_separate_handlers,
    a_question_names_its_call,
    a_call_returns_its_questions,
}

const ERAS: [&[Revision]; 2] = [&[Revision::V2025_11_25], &[Revision::V2026_07_28]];

/// The eras of the user's client and of the server behind the gateway.
fn combinations() -> impl Iterator<Item = (&'static [Revision], &'static [Revision])> {
    ERAS.into_iter().flat_map(|host| ERAS.into_iter().map(move |upstream| (host, upstream)))
}

/// A client that declares every question and answers none.
fn forwarding() -> Client {
    let all = [
        Capability::ElicitationForm,
        Capability::ElicitationUrl,
        Capability::Sampling,
        Capability::Roots,
    ];
    let declare = |config: Config, capability| config.capability(capability);
    Client::new("gateway", "1.0.0").configure(|config| all.into_iter().fold(config, declare))
}

async fn relay(
    State(upstream): State<Connection>,
    call: CallTool,
    cx: Cx,
) -> Result<CallToolResult, HandlerError> {
    cx.relay(upstream.call(call)).await
}

fn relay_plain(
    State(upstream): State<Connection>,
    call: CallTool,
    cx: Cx,
) -> Result<CallToolResult, HandlerError> {
    cx.relay(upstream.call(call)).wait()
}

/// A connection to a server, and one through a gateway in front of it.
struct Chain {
    host: Connection,
    _gateway: Serving,
    upstream: Connection,
    _upstream: Serving,
}

async fn chain<R: Runtime>(
    upstream: Server,
    (host_revisions, upstream_revisions): (&[Revision], &[Revision]),
    host: Client,
    is_plain: bool,
) -> Chain {
    let (upstream, serving) = pair::<R>(forwarding().revisions(upstream_revisions), upstream).await;
    let fallback = match is_plain {
        true => Unregistered::new().tool_fallback(relay_plain),
        false => Unregistered::new().tool_fallback(relay),
    };
    let gateway = server().state(upstream.clone()).add(fallback);
    let (host, gateway) = pair::<R>(host.revisions(host_revisions), gateway).await;
    let eras = [host_revisions, upstream_revisions].map(|revisions| revisions[0].era());
    assert_eq!([host.era(), upstream.era()], eras);
    Chain { host, _gateway: gateway, upstream, _upstream: serving }
}

fn asking() -> Server {
    full_server()
        .add(Tool::define(tool("order"), |cx: Cx| {
            let what: Value = cx.ask("what", form("What?"))?;
            let what = what["name"].as_str().unwrap_or_default().to_owned();
            let number = cx.once("number", || Ok(7))?;
            let is_sure = cx.confirm("sure", &format!("{what}?"))?;
            let page = cx.open_url("pay", "Pay", "https://example.com/pay")?;
            Ok(format!("{what} {number} {is_sure} {page}"))
        }))
        .add(Tool::define(tool("many"), async |cx: Cx| {
            let message = SamplingMessage::new(Role::User, "2+2?");
            cx.ask_all([
                ("model", NeededInput::from(CreateMessage::new([message], 9))),
                ("roots", NeededInput::Roots),
                ("form", form("Who are you?").into()),
            ])?;
            let model: CreateMessageResult = cx.answer("model")?;
            let roots: ListRootsResult = cx.answer("roots")?;
            let user: Value = cx.form_answer("form")?;
            Ok(format!("{} {} {}", model.model, roots.roots.len(), user["name"]))
        }))
}

/// A client that answers every question.
fn user() -> Client {
    Client::new("user", "1.0.0")
        .on_elicitation(|asked: Elicit| match &*asked.message {
            "Ada?" => ElicitResult::accept(raw(&json!({}))),
            _ => ElicitResult::accept(raw(&json!({"name": "Ada"}))),
        })
        .on_url_elicitation(|page: ElicitUrl| {
            assert_eq!(&*page.url, "https://example.com/pay");
            ElicitResult::accept(raw(&json!({})))
        })
        .on_sampling(async || CreateMessageResult::new(Role::Assistant, "4", "m"))
        .on_roots(|| vec![Root::new("file:///a"), Root::new("file:///b")])
}

async fn questions_reach_the_user_of_the_call<R: Runtime>() {
    for eras in combinations() {
        for is_plain in [false, true] {
            let chain = chain::<R>(asking(), eras, user(), is_plain).await;
            for (tool, answer) in [
                ("who", "Ada"),
                ("who_plain", "Ada"),
                ("order", "Ada 7 true true"),
                ("many", "m 2 \"Ada\""),
            ] {
                let result = chain.host.call_tool(tool, &json!({})).await;
                assert_eq!(success(result), answer, "{tool} {eras:?} {is_plain}");
            }
        }
    }
}

async fn progress_and_errors_pass_through<R: Runtime>() {
    for eras in combinations() {
        let upstream = full_server().add(Tool::define(tool("steps"), |cx: Cx| {
            cx.progress(Progress::new(1.0))?;
            cx.confirm("sure", "Ada?")?;
            cx.progress(Progress::new(2.0))?;
            Ok("done")
        }));
        let chain = chain::<R>(upstream, eras, user(), false).await;
        let seen = Mutex::new(Vec::new());
        let call = chain.host.call_tool("steps", &json!({}));
        let call = call.progress(|progress| seen.lock().unwrap().push(progress.progress));
        assert_eq!(success(call.await), "done");
        // Between modern peers, each round has its own progress.
        seen.lock().unwrap().dedup();
        assert_eq!(*seen.lock().unwrap(), [1.0, 2.0], "{eras:?}");
        assert_eq!(failure(chain.host.call_tool("fail", &json!({})).await), "it failed");
        let error = refusal(chain.host.call_tool("refuse", &json!({})).await);
        assert_eq!((error.code, &*error.message), (-32602, "refused on request"));
    }
}

/// A tool that asks, and reports the cancellation of its request.
fn watching() -> (Server, Receiver<()>) {
    let (says, heard) = unbounded();
    let server = full_server().add(Tool::define(tool("watch"), move |cx: Cx| {
        let (watched, says) = (cx.clone(), says.clone());
        smol::spawn(async move {
            watched.cancelled().await;
            let _ended = says.try_send(());
        })
        .detach();
        cx.confirm("sure", "Really?").map(|is_sure| is_sure.to_string())
    }));
    (server, heard)
}

/// A client that reports a question, and answers after a signal.
fn slow_user() -> (Client, Receiver<String>, Sender<()>) {
    let ((asks, asked), (answer, answers)) = (unbounded(), unbounded::<()>());
    let client = Client::new("user", "1.0.0").on_elicitation(move |form: Elicit| {
        let (asks, answers) = (asks.clone(), answers.clone());
        async move {
            let _ended = asks.try_send(form.message.to_string());
            let _ended = answers.recv().await;
            ElicitResult::accept(raw(&json!({"name": form.message})))
        }
    });
    (client, asked, answer)
}

async fn a_user_who_leaves_ends_the_call<R: Runtime>() {
    // A modern host sends nothing, and a modern upstream has nothing open.
    let eras = (ERAS[0], ERAS[0]);
    let (upstream, cancelled) = watching();
    let (host, asked, _answer) = slow_user();
    let chain = chain::<R>(upstream, eras, host, false).await;
    let call = chain.host.call_tool("watch", &json!({})).start().await.unwrap();
    asked.recv().await.unwrap();
    drop(call);
    cancelled.recv().await.unwrap();
    let call = chain.host.call_tool("watch", &json!({})).start().await.unwrap();
    asked.recv().await.unwrap();
    chain.host.clone().close().await.unwrap();
    cancelled.recv().await.unwrap();
    call.await.unwrap_err();
}

async fn a_call_that_ends_while_its_user_answers_says_why<R: Runtime>() {
    for host_revisions in ERAS {
        let (upstream, cancelled) = watching();
        let (client, asked, answer) = slow_user();
        let (upstream, _serving) = pair::<R>(forwarding().revisions(ERAS[0]), upstream).await;
        let gateway = server().state(upstream).add(Tool::define(
            tool("watch"),
            async |State(upstream): State<Connection>, cx: Cx| {
                let call = upstream.call(CallTool::new("watch"));
                cx.relay(call.timeout_max(Duration::from_millis(50))).await
            },
        ));
        let (host, _gateway) = pair::<R>(client.revisions(host_revisions), gateway).await;
        let call = host.call_tool("watch", &json!({})).start().await.unwrap();
        asked.recv().await.unwrap();
        cancelled.recv().await.unwrap();
        answer.send(()).await.unwrap();
        let why = failure(call.await);
        assert!(why.contains("timed out"), "{why}");
    }
}

async fn a_question_that_the_client_cannot_answer_names_the_client<R: Runtime>() {
    for (host, upstream) in combinations() {
        let user = Client::new("plain user", "1.0.0");
        let chain = chain::<R>(full_server(), (host, upstream), user, false).await;
        let error = refusal(chain.host.call_tool("who", &json!({})).await);
        let names = error.message.contains("the client `plain user`");
        assert!(names && error.message.contains("elicitation"), "{error:?}");
    }
}

async fn an_ambiguous_question_reaches_no_user<R: Runtime>() {
    let (upstream, _serving) = pair::<R>(forwarding().revisions(ERAS[0]), full_server()).await;
    let gateway = || server().state(upstream.clone()).add(Unregistered::new().tool_fallback(relay));
    for revisions in ERAS {
        let asked = Arc::new(AtomicUsize::new(0));
        let user = || {
            let asked = Arc::clone(&asked);
            Client::new("user", "1.0.0").revisions(revisions).on_elicitation(move || {
                asked.fetch_add(1, Ordering::Relaxed);
                ElicitResult::decline()
            })
        };
        let (ada, _serves_ada) = pair::<R>(user(), gateway()).await;
        let (bob, _serves_bob) = pair::<R>(user(), gateway()).await;
        let call = ada.call_tool("hang", &json!({})).start().await.unwrap();
        // Answered after the call of the other user has reached the server behind.
        assert_eq!(success(ada.call_tool("echo", &json!({"text": "here"})).await), "here");
        let error = refusal(bob.call_tool("who", &json!({})).await);
        assert!(error.message.contains("does not say which of them asks"), "{error:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 0);
        drop(call);
    }
}

async fn calls_of_one_user_may_ask_concurrently<R: Runtime>() {
    for eras in combinations() {
        let (client, asked, answer) = slow_user();
        let chain = chain::<R>(full_server(), eras, client, false).await;
        let mut calls = Vec::new();
        for _ in 0..3 {
            calls.push(chain.host.call_tool("who", &json!({})).start().await.unwrap());
            asked.recv().await.unwrap();
        }
        for _ in 0..3 {
            answer.send(()).await.unwrap();
        }
        for call in calls {
            assert_eq!(success(call.await), "Who are you?", "{eras:?}");
        }
    }
}

async fn an_answer_is_taken_once<R: Runtime>() {
    let chain = chain::<R>(full_server(), (ERAS[1], ERAS[0]), user(), false).await;
    let ask = || async {
        let result = chain.host.call(CallTool::new("who")).input_required().await.unwrap();
        let state = result.member("requestState").unwrap();
        let keys = InputRequired::decode(&result).unwrap();
        let (key, _) = keys.input_requests.unwrap().items.remove(0);
        let answer = json!({"action": "accept", "content": {"name": "Bob"}});
        json!({
            "name": "who", "inputResponses": {key: answer},
            "requestState": state.parse::<String>().unwrap(),
        })
    };
    let params = ask().await;
    let answered = || chain.host.call_raw("tools/call", params.clone());
    assert!(answered().await.unwrap().to_string().contains("Bob"));
    let error = refusal(answered().await);
    assert!(error.code == -32602 && error.message.contains("over"), "{error:?}");
    // The call is over as well if its server has gone.
    let params = ask().await;
    chain.upstream.clone().close().await.unwrap();
    let outcome = chain.host.call_raw("tools/call", params).await;
    assert!(matches!(outcome, Err(Error::Call(CallError::Refused(_)))) || outcome.is_ok());
}

async fn a_run_relays_one_call<R: Runtime>() {
    let (upstream, _serving) = pair::<R>(forwarding(), full_server()).await;
    let gateway = server().state(upstream).add(Tool::define(
        tool("twice"),
        async |State(upstream): State<Connection>, cx: Cx| {
            cx.relay(upstream.call_tool("who", &())).await?;
            cx.relay(upstream.call_tool("who", &())).await
        },
    ));
    let (host, _gateway) = pair::<R>(user(), gateway).await;
    let error = refusal(host.call_tool("twice", &json!({})).await);
    assert!(error.code == -32603 && error.message.contains("one call only"), "{error:?}");
}

async fn a_waiting_request_learns_of_its_cancellation<R: Runtime>() {
    let (server, cancelled) = watching();
    let (client, asked, answer) = slow_user();
    let (host, _serving) = pair::<R>(client.revisions(ERAS[0]), server).await;
    let call = host.call_tool("watch", &json!({})).start().await.unwrap();
    asked.recv().await.unwrap();
    call.cancel("enough");
    cancelled.recv().await.unwrap();
    // A request that is answered is not cancelled.
    let call = host.call_tool("watch", &json!({})).start().await.unwrap();
    asked.recv().await.unwrap();
    answer.send(()).await.unwrap();
    assert_eq!(success(call.await), "true");
    assert_eq!(success(host.call_tool("echo", &json!({"text": "on"})).await), "on");
    assert!(cancelled.is_empty());
}

async fn a_call_can_have_separate_handlers<R: Runtime>() {
    let named = |name: &'static str| ElicitResult::accept(raw(&json!({"name": name})));
    for revisions in ERAS {
        let general = Client::new("c", "1").on_elicitation(move || named("Ada"));
        let declared =
            Client::new("c", "1").configure(|it| it.capability(Capability::ElicitationForm));
        for (client, otherwise) in [(general, Some("Ada")), (declared, None)] {
            let (host, _serving) = pair::<R>(client.revisions(revisions), full_server()).await;
            let call = || host.call_tool("who", &json!({}));
            let own = call().on_elicitation(move || named("Bob")).await;
            assert_eq!(success(own), "Bob");
            let own = call().on_elicitation(move || async move { named("Eve") }).await;
            assert_eq!(success(own), "Eve");
            match otherwise {
                Some(name) => assert_eq!(success(call().await), name),
                None => drop(call().await.unwrap_err()),
            }
        }
    }
}

async fn a_question_names_its_call<R: Runtime>() {
    for revisions in ERAS {
        let (says, heard) = bounded::<Option<CallId>>(1);
        let client = Client::new("c", "1").on_elicitation(move |cx: ClientCx| {
            says.try_send(cx.call()).unwrap();
            ElicitResult::decline()
        });
        let (host, _serving) = pair::<R>(client.revisions(revisions), full_server()).await;
        let call = host.call_tool("who", &json!({})).start().await.unwrap();
        let asked = heard.recv().await.unwrap();
        assert_eq!(asked, (revisions == ERAS[1]).then(|| call.id()));
        failure(call.await);
    }
}

async fn a_call_returns_its_questions<R: Runtime>() {
    for revisions in ERAS {
        let (host, _serving) = pair::<R>(user().revisions(revisions), full_server()).await;
        let raw_call = host.call_raw("tools/call", json!({"name": "who"})).input_required();
        for result in [
            host.call(CallTool::new("who")).input_required().await.unwrap(),
            raw_call.await.unwrap(),
        ] {
            let asked = InputRequired::decode(&result).unwrap().input_requests;
            let kind = result.member("resultType");
            match revisions == ERAS[1] {
                true => assert_eq!(
                    (asked.unwrap().items.len(), kind),
                    (1, Some(raw(&json!("input_required"))))
                ),
                false => assert_eq!((asked, kind), (None, None)),
            }
        }
    }
}

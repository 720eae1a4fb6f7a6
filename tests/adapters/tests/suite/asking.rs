//! Servers that ask for input during a call, in both eras, and clients that answer with async and
//! plain handlers.

use mcp_adapter::proto::schema::Elicit;
use mcp_adapter::proto::schema::ElicitUrl;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapter::proto::schema::ElicitResult;
use mcp_adapter::proto::{Era, Raw, Revision};
use mcp_adapter::{Client, Connection, Cx, Server, Tool};
use mcp_adapter_tests::{
    Runtime, call_by_hand, client, connect_by_hand, failure, form, full_server, pair, raw, refusal,
    rows, server, success, timer, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use smol::channel::{Sender, bounded, unbounded};

rows! {
    a_server_asks_in_both_eras,
    a_user_declines,
    an_open_question_delays_nothing_else,
    cancelling_a_call_cancels_its_question,
    an_obsolete_answer_is_cancelled,
    a_client_handler_that_panics_answers_with_an_error,
    questions_nested_twenty_deep_are_answered,
    a_user_is_asked_to_open_a_page,
    the_answers_of_forms_are_integers_or_errors_with_a_place,
    the_error_of_an_answer_names_what_is_allowed,
    a_form_that_a_revision_does_not_allow_is_refused_with_the_reason,
}

/// The revisions of a client that meets a server of each era.
const ERAS: [(&[Revision], Era); 2] =
    [(&Revision::LEGACY, Era::Legacy), (&[Revision::V2026_07_28], Era::Modern)];

fn clients() -> [Client; 2] {
    let named = |name: &str| ElicitResult::accept(raw(&json!({"name": name})));
    let futures = Client::new("row", "1.0.0").on_elicitation(move |form: Elicit| async move {
        assert_eq!(form.message, "Who are you?");
        timer(Duration::from_millis(1)).await;
        named("Ada")
    });
    [futures, client()]
}

async fn a_server_asks_in_both_eras<R: Runtime>() {
    for (revisions, era) in ERAS {
        for client in clients() {
            let (connection, serving) = pair::<R>(client.revisions(revisions), full_server()).await;
            assert_eq!(connection.era(), era);
            for tool in ["who", "who_plain"] {
                assert_eq!(success(connection.call_tool(tool, &json!({})).await), "Ada");
            }
            connection.clone().close().await.unwrap();
            serving.ends_well().await;
        }
    }
}

async fn a_user_declines<R: Runtime>() {
    for (revisions, _) in ERAS {
        let client =
            Client::new("row", "1.0.0").on_elicitation(|| async { ElicitResult::decline() });
        let (connection, _serving) = pair::<R>(client.revisions(revisions), full_server()).await;
        let why = failure(connection.call_tool("who", &json!({})).await);
        assert_eq!(why, "the user declined `name`");
    }
}

/// Sends a message when dropped.
struct Guard(Sender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ignored = self.0.try_send(());
    }
}

async fn an_open_question_delays_nothing_else<R: Runtime>() {
    for (revisions, _) in ERAS {
        let (asks, asked) = unbounded();
        let (answer, answers) = bounded::<()>(1);
        let client = Client::new("row", "1.0.0").on_elicitation(move || {
            let (asks, answers) = (asks.clone(), answers.clone());
            async move {
                asks.send(()).await.unwrap();
                answers.recv().await.unwrap();
                ElicitResult::accept(raw(&json!({"name": "Ada"})))
            }
        });
        let (connection, _serving) = pair::<R>(client.revisions(revisions), full_server()).await;
        let open = connection.call_tool("who", &json!({})).start().await.unwrap();
        asked.recv().await.unwrap();
        let echo = connection.call_tool("echo", &json!({"text": "concurrent"}));
        assert_eq!(success(echo.await), "concurrent");
        answer.send(()).await.unwrap();
        assert_eq!(success(open.await), "Ada");
    }
}

/// Builds a client whose answers never come, and channels that report a question and its
/// cancellation.
fn thinker() -> (Client, smol::channel::Receiver<()>, smol::channel::Receiver<()>) {
    let (asks, asked) = unbounded();
    let (drops, dropped) = unbounded();
    let client = Client::new("row", "1.0.0").on_elicitation(move || {
        let (asks, guard) = (asks.clone(), Guard(drops.clone()));
        async move {
            let _guard = guard;
            asks.send(()).await.unwrap();
            pending::<ElicitResult>().await
        }
    });
    (client, asked, dropped)
}

async fn cancelling_a_call_cancels_its_question<R: Runtime>() {
    for (revisions, _) in ERAS {
        let (client, asked, dropped) = thinker();
        let (connection, serving) = pair::<R>(client.revisions(revisions), full_server()).await;
        let open = connection.call_tool("who", &json!({})).start().await.unwrap();
        asked.recv().await.unwrap();
        drop(open);
        dropped.recv().await.unwrap();
        // Equally at the end of the connection.
        let open = connection.call_tool("who", &json!({})).start().await.unwrap();
        asked.recv().await.unwrap();
        connection.clone().close().await.unwrap();
        dropped.recv().await.unwrap();
        open.await.unwrap_err();
        serving.ends_well().await;
    }
}

async fn an_obsolete_answer_is_cancelled<R: Runtime>() {
    let (client, asked, dropped) = thinker();
    let (_connection, hand) = connect_by_hand::<R>(client).await;
    let ask = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    let hand = call_by_hand(hand, move |hand| hand.request(1, "elicitation/create", &ask)).await;
    asked.recv().await.unwrap();
    call_by_hand(hand, |hand| hand.notify("notifications/cancelled", &json!({"requestId": 1})))
        .await;
    dropped.recv().await.unwrap();
}

async fn a_client_handler_that_panics_answers_with_an_error<R: Runtime>() {
    for client in [
        Client::new("row", "1.0.0").on_elicitation(async || -> ElicitResult { panic!("a secret") }),
        Client::new("row", "1.0.0").on_elicitation(|| -> ElicitResult { panic!("a secret") }),
    ] {
        let (_connection, hand) = connect_by_hand::<R>(client).await;
        call_by_hand(hand, |hand| {
            let ask =
                json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
            hand.request(1, "elicitation/create", &ask);
            let answer = hand.hear();
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            assert!(!answer.to_string().contains("secret"), "{answer}");
        })
        .await;
    }
}

/// Each handler of the client waits for a call that asks the client again.
async fn questions_nested_twenty_deep_are_answered<R: Runtime>() {
    const DEPTH: u64 = 20;
    for (revisions, _) in ERAS {
        let handle: Arc<Mutex<Option<Connection>>> = Arc::default();
        let nested = Arc::clone(&handle);
        let client =
            Client::new("row", "1.0.0").revisions(revisions).on_elicitation(move |form: Elicit| {
                let depth: u64 = form.message.parse().unwrap();
                let connection = nested.lock().unwrap().clone().unwrap();
                let reached = connection.call_tool("nest", &json!({"depth": depth})).wait();
                ElicitResult::accept(raw(&json!({"reached": success(reached)})))
            });
        let server = full_server().add(Tool::define(tool("nest"), |arguments: Value, cx: Cx| {
            let depth = arguments["depth"].as_u64().unwrap_or(DEPTH);
            if depth == DEPTH {
                return Ok(depth.to_string());
            }
            let answer: Value = cx.ask("deeper", form(&(depth + 1).to_string()))?;
            Ok(answer["reached"].as_str().unwrap_or_default().to_owned())
        }));
        let (connection, serving) = pair::<R>(client, server).await;
        *handle.lock().unwrap() = Some(connection.clone());
        let reached = connection.call_tool("nest", &json!({"depth": 0})).await;
        assert_eq!(success(reached), DEPTH.to_string());
        *handle.lock().unwrap() = None;
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn a_user_is_asked_to_open_a_page<R: Runtime>() {
    const PAGE: &str = "https://example.com/login";
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = full_server().add(Tool::define(tool("login"), |cx: Cx| {
            let is_opened = cx.open_url("login", "Log in", PAGE)?;
            Ok(if is_opened { "opened" } else { "not opened" })
        }));
        let client = Client::new("row", "1.0.0").revisions(&[revision]);
        let opening = client.clone().on_url_elicitation(|page: ElicitUrl| {
            assert_eq!((&*page.message, &*page.url), ("Log in", PAGE));
            ElicitResult::accept(raw(&json!({})))
        });
        let refusing = client.on_url_elicitation(|| async { ElicitResult::decline() });
        for (client, outcome) in [(opening, "opened"), (refusing, "not opened")] {
            let (connection, _serving) = pair::<R>(client, server.clone()).await;
            assert_eq!(success(connection.call_tool("login", &json!({})).await), outcome);
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Age {
    age: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    extras: Vec<Extra>,
}

#[derive(Deserialize, JsonSchema)]
struct Meal {
    extra: Extra,
    #[schemars(range(min = 1, max = 8))]
    guests: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Extra {
    Salt,
    Sugar,
}

fn ask_forms() -> Server {
    server()
        .tool("age", "Asks for an age", |cx: Cx| {
            Ok(cx.ask_form::<Age>("age", "How old?")?.age.to_string())
        })
        .tool("raw_age", "Asks for an age", |cx: Cx| {
            Ok(cx.ask::<Age>("age", form("How old?"))?.age.to_string())
        })
        .tool("meal", "Asks for a meal", |cx: Cx| {
            let meal = cx.ask_form::<Meal>("meal", "Which?")?;
            Ok(format!("{:?} for {}", meal.extra, meal.guests))
        })
        .tool("extras", "Asks for extras", |cx: Cx| {
            Ok(cx.ask_form::<Choice>("order", "Extras?")?.extras.len().to_string())
        })
}

async fn the_answers_of_forms_are_integers_or_errors_with_a_place<R: Runtime>() {
    for (revisions, _) in ERAS {
        for (answer, expected) in [
            (r#"{"age":36.0}"#, Ok("36")),
            (r#"{"age":36e0}"#, Ok("36")),
            (r#"{"age":1e19}"#, Ok("10000000000000000000")),
            (r#"{"age":9007199254740993.0}"#, Ok("9007199254740993")),
            (r#"{"age":36.5}"#, Err("an integer")),
            (r#"{"age":"36"}"#, Err("at \"/age\"")),
        ] {
            let client = Client::new("row", "1.0.0")
                .on_elicitation(move || ElicitResult::accept(Raw::from_text(answer).unwrap()));
            let (connection, serving) = pair::<R>(client.revisions(revisions), ask_forms()).await;
            for tool in ["age", "raw_age"] {
                let outcome = connection.call_tool(tool, &json!({})).await;
                match expected {
                    Ok(age) => assert_eq!(success(outcome), age, "{tool} {answer}"),
                    Err(why) => {
                        let error = failure(outcome);
                        let says = error.contains(why) && error.contains("/age");
                        assert!(says && !error.contains("column"), "{tool} {answer}: {error}");
                    }
                }
            }
            connection.clone().close().await.unwrap();
            serving.ends_well().await;
        }
    }
}

async fn the_error_of_an_answer_names_what_is_allowed<R: Runtime>() {
    for (answer, words) in [
        (json!({"extra": "Honey", "guests": 1}), &["/extra", "\"Salt\", \"Sugar\"", "Honey"][..]),
        (json!({"extra": "Salt", "guests": 9}), &["/guests", "from 1 to 8", "9"]),
        (json!({"extra": "Salt"}), &["/guests", "nothing"]),
    ] {
        let answer = raw(&answer);
        let client = Client::new("row", "1.0.0")
            .on_elicitation(move || ElicitResult::accept(answer.clone()));
        let (connection, serving) = pair::<R>(client, ask_forms()).await;
        let error = failure(connection.call_tool("meal", &json!({})).await);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn a_form_that_a_revision_does_not_allow_is_refused_with_the_reason<R: Runtime>() {
    let revisions = [Revision::V2025_06_18];
    let (connection, serving) = pair::<R>(client().revisions(&revisions), ask_forms()).await;
    let error = refusal(connection.call_tool("extras", &json!({})).await);
    for word in ["`order`", "`extras`", "several choices", "2025-11-25"] {
        assert!(error.message.contains(word), "{}", error.message);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

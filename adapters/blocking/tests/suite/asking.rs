//! Requests of servers during a call, and the answers of clients.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_blocking::proto::schema::{
    CreateMessage, CreateMessageResult, Elicit, ElicitAction, ElicitResult, Field, NumberKind,
    OrUnknown, Role, Root, SamplingMessage,
};
use mcp_blocking::proto::{CallError, ErrorObject, Limits, NeededInput, Raw, Revision, code};
use mcp_blocking::{Client, Cx, Error, FormAnswer, HandlerError, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{
    client, connect_by_hand, failure, is_alive, pair, part, raw, refusal, serve_by_hand, server,
    success, tool, with_timeout,
};

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Age {
    age: u8,
}

fn form(message: &str) -> Elicit {
    Elicit::form(message, raw(json!({"type": "object", "properties": {}})))
}

/// Asks two questions, the second of which contains the first answer.
fn introduce(_: Value, cx: Cx) -> Result<String, HandlerError> {
    let Name { name } = cx.ask("name", form("Who are you?"))?;
    let Age { age } = cx.ask("age", form(&format!("How old are you, {name}?")))?;
    Ok(format!("{name}, {age}"))
}

fn inn() -> Server {
    server().add(tool("introduce", introduce))
}

fn guest() -> Client {
    client().on_elicitation(|form: Elicit| {
        ElicitResult::accept(match &*form.message {
            "Who are you?" => raw(json!({"name": "Ada"})),
            "How old are you, Ada?" => raw(json!({"age": 36})),
            other => panic!("asked {other:?}"),
        })
    })
}

#[test]
fn a_handler_asks_twice_and_gets_both_answers() {
    with_timeout(|| {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let server = server().add(tool("introduce", move |arguments: Value, cx: Cx| {
            counted.fetch_add(1, Ordering::Relaxed);
            introduce(arguments, cx)
        }));
        let (client, serving) = pair(guest(), server);
        assert_eq!(success(client.call_tool("introduce", &json!({})).wait()), "Ada, 36");
        assert_eq!(runs.load(Ordering::Relaxed), 3, "from the top after each answer");
        part(client, serving);
    });
}

#[test]
fn many_calls_ask_concurrently_and_each_gets_its_own_answers() {
    with_timeout(|| {
        let echoing = client().on_elicitation(|form: Elicit| {
            ElicitResult::accept(raw(json!({"name": form.message})))
        });
        let server = server().threads_max(2).add(tool("who", |arguments: Value, cx: Cx| {
            let who = arguments["who"].as_str().ok_or("who?")?;
            let Name { name } = cx.ask("name", form(who))?;
            Ok(name)
        }));
        let (client, serving) = pair(echoing, server);
        std::thread::scope(|scope| {
            for guest in 0..32 {
                let client = &client;
                scope.spawn(move || {
                    let who = format!("guest {guest}");
                    assert_eq!(success(client.call_tool("who", &json!({"who": who})).wait()), who);
                });
            }
        });
        part(client, serving);
    });
}

#[test]
fn a_declined_question_is_a_tool_error() {
    with_timeout(|| {
        for (answer, word) in
            [(ElicitResult::decline as fn() -> _, "declined"), (ElicitResult::cancel, "cancelled")]
        {
            let (client, serving) = pair(client().on_elicitation(answer), inn());
            let why = failure(client.call_tool("introduce", &json!({})).wait());
            assert_eq!(why, format!("the user {word} `name`"));
            part(client, serving);
        }
    });
}

#[test]
fn an_answer_of_another_type_is_a_tool_error() {
    with_timeout(|| {
        let answering =
            client().on_elicitation(|| ElicitResult::accept(raw(json!({"nom": "Ada"}))));
        let (client, serving) = pair(answering, inn());
        let why = failure(client.call_tool("introduce", &json!({})).wait());
        assert!(why.contains("invalid answer to `name`") && why.contains("missing field"), "{why}");
        part(client, serving);
    });
}

#[test]
fn the_error_for_a_client_without_elicitation_names_the_capability() {
    with_timeout(|| {
        for (revisions, expected) in [
            (&Revision::LEGACY[..], code::INTERNAL_ERROR),
            (&Revision::ALL[..], code::MISSING_CLIENT_CAPABILITY),
        ] {
            let (client, serving) = pair(client().revisions(revisions), inn());
            let error = refusal(client.call_tool("introduce", &json!({})).wait());
            assert_eq!(error.code, expected);
            let missing = error.data.unwrap().parse::<Value>().unwrap();
            assert!(missing["requiredCapabilities"]["elicitation"].is_object(), "{missing}");
            is_alive(&client);
            part(client, serving);
        }
    });
}

#[test]
fn a_server_that_asks_endlessly_is_stopped() {
    with_timeout(|| {
        let limits = Limits { input_rounds_max: 3, ..Limits::default() };
        let nagging = || {
            server().limits(limits.clone()).add(tool(
                "nag",
                |cx: Cx| -> Result<String, HandlerError> {
                    for round in 0.. {
                        let _: Value = cx.ask(&round.to_string(), form("And now?"))?;
                    }
                    unreachable!()
                },
            ))
        };
        let patient = || client().on_elicitation(|| ElicitResult::accept(Raw::empty_object()));
        let (client, serving) = pair(patient().revisions(&Revision::LEGACY), nagging());
        let error = refusal(client.call_tool("nag", &json!({})).wait());
        assert_eq!(error.code, code::INTERNAL_ERROR);
        part(client, serving);

        // In the modern era the client counts the rounds.
        let (client, serving) = pair(patient().limits(limits.clone()), nagging());
        let outcome = client.call_tool("nag", &json!({})).wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::TooManyRounds))), "{outcome:?}");
        part(client, serving);
    });
}

#[test]
fn models_and_roots_can_be_asked_for_too() {
    with_timeout(|| {
        let server = server().add(tool("survey", |cx: Cx| {
            let roots: Vec<String> = cx.roots("roots")?.into_iter().map(|root| root.uri).collect();
            let question = SamplingMessage::new(Role::User, roots.join(" "));
            let answer = cx.sample("sample", CreateMessage::new(vec![question], 20))?;
            Ok(format!("{}: {:?}", answer.model, answer.content))
        }));
        for revisions in [&Revision::LEGACY[..], &[Revision::V2026_07_28]] {
            let roots = || vec![Root::new("file:///a"), Root::new("file:///b")];
            let answering = client().revisions(revisions).on_roots(roots).on_sampling(
                |params: CreateMessage| {
                    let question = params.messages[0].content.clone();
                    Ok(CreateMessageResult::new(Role::Assistant, question, "m"))
                },
            );
            let (client, serving) = pair(answering, server.clone());
            let said = success(client.call_tool("survey", &json!({})).wait());
            assert!(said.starts_with("m: ") && said.contains("file:///a file:///b"), "{said}");
            part(client, serving);
        }
    });
}

#[test]
fn a_model_that_refuses_fails_the_call_that_asked_it() {
    with_timeout(|| {
        let surveying = || {
            server().add(tool("survey", |cx: Cx| {
                let params = raw(json!({"messages": [], "maxTokens": 1}));
                let sample: Raw =
                    cx.ask_any("sample", NeededInput::raw("sampling/createMessage", params))?;
                Ok(sample.to_string())
            }))
        };
        let answering = || client().on_sampling(|| Err(ErrorObject::new(-1, "the user said no")));
        let (client, serving) = pair(answering().revisions(&Revision::LEGACY), surveying());
        let error = refusal(client.call_tool("survey", &json!({})).wait());
        assert!(
            error.message.contains("`sample`") && error.message.contains("the user said no"),
            "{error}"
        );
        part(client, serving);

        // In the modern era the server never learns of it.
        let (client, serving) = pair(answering(), surveying());
        let outcome = client.call_tool("survey", &json!({})).wait();
        let Err(Error::Call(CallError::InputRefused(error))) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((error.code, &*error.message), (-1, "the user said no"));
        part(client, serving);
    });
}

#[test]
fn a_client_handler_that_panics_answers_with_an_error_without_its_message() {
    with_timeout(|| {
        let asked = AtomicUsize::new(0);
        let nervous = client().on_elicitation(move || {
            assert!(asked.fetch_add(1, Ordering::Relaxed) > 0, "the secret word");
            ElicitResult::decline()
        });
        let (client, mut hand) = connect_by_hand(nervous);
        let params =
            json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}});
        hand.request(1, "elicitation/create", &params);
        let answer = hand.hear();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(1), &json!(code::INTERNAL_ERROR))
        );
        assert!(!answer.to_string().contains("secret"), "{answer}");
        hand.request(2, "elicitation/create", &params);
        assert_eq!(hand.hear()["result"]["action"], "decline");
        hand.request(3, "elicitation/create", &json!({"message": 5}));
        assert_eq!(hand.hear()["error"]["code"], code::INVALID_PARAMS);
        hand.request(4, "roots/list", &json!({}));
        assert_eq!(hand.hear()["error"]["code"], code::METHOD_NOT_FOUND);
        client.close().wait().unwrap();
    });
}

#[test]
fn cancelling_a_call_cancels_its_question() {
    with_timeout(|| {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let server = inn().add(tool("introduce_counted", move |arguments: Value, cx: Cx| {
            counted.fetch_add(1, Ordering::Relaxed);
            introduce(arguments, cx)
        }));
        let (mut hand, serving) = serve_by_hand(server);
        hand.greet(json!({"elicitation": {}}));
        hand.call_tool(1, "introduce_counted", &json!({}));
        let question = hand.hear();
        assert_eq!(question["method"], "elicitation/create");
        hand.notify("notifications/cancelled", &json!({"requestId": 1}));
        let taken_back = hand.hear_notification("notifications/cancelled");
        assert_eq!(taken_back["requestId"], question["id"]);
        // The user answers before the cancellation arrives: the answer has no effect.
        hand.answer(&question, &json!({"action": "accept", "content": {"name": "Ada"}}));
        hand.request(2, "ping", &json!({}));
        assert_eq!(hand.hear()["id"], 2);
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        drop(hand);
        serving.join().unwrap().unwrap();
    });
}

#[test]
fn a_slow_user_does_not_block_the_connection() {
    with_timeout(|| {
        let (think, thought) = std::sync::mpsc::channel::<()>();
        let thought = Mutex::new(thought);
        let slow = client().on_elicitation(move || {
            thought.lock().unwrap().recv().unwrap();
            ElicitResult::decline()
        });
        let (client, serving) = pair(slow, inn());
        let open = client.call_tool("introduce", &json!({})).start().wait().unwrap();
        is_alive(&client);
        assert_eq!(client.list_tools().wait().unwrap().len(), 1);
        think.send(()).unwrap();
        assert_eq!(failure(open.wait()), "the user declined `name`");
        part(client, serving);
    });
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Seat {
    /// By the window
    Window,
    Aisle,
}

#[derive(Deserialize, JsonSchema)]
struct Booking {
    /// Who travels.
    name: String,
    #[schemars(range(min = 1, max = 4))]
    seats: u8,
    seat: Option<Seat>,
}

fn station() -> Server {
    server().add(tool("book", |cx: Cx| {
        let booking: Booking = cx.ask_form("booking", "Which seats?")?;
        let side = match booking.seat {
            Some(Seat::Window) => "at the window",
            Some(Seat::Aisle) => "at the aisle",
            None => "anywhere",
        };
        Ok(format!("{} seats for {} {side}", booking.seats, booking.name))
    }))
}

#[test]
fn a_form_derived_from_a_type_reaches_the_client_as_known_fields() {
    with_timeout(|| {
        for revisions in [&Revision::ALL[..], &Revision::LEGACY[..]] {
            let answering = client().revisions(revisions).on_elicitation(|asked: Elicit| {
                assert_eq!(asked.message, "Which seats?");
                let OrUnknown::Known(form) = &asked.requested_schema else { panic!("{asked:?}") };
                let required: Vec<&String> = form.required.iter().flatten().collect();
                assert_eq!(required, ["name", "seats"]);
                let fields: Vec<_> = form.properties.iter().collect();
                for (name, field) in &fields {
                    match (*name, field) {
                        ("name", OrUnknown::Known(Field::Text(text))) => {
                            assert_eq!(text.description.as_deref(), Some("Who travels."));
                        }
                        ("seats", OrUnknown::Known(Field::Number(number))) => {
                            assert_eq!(number.kind, NumberKind::Integer);
                            assert_eq!((number.minimum, number.maximum), (Some(1.0), Some(4.0)));
                        }
                        ("seat", OrUnknown::Known(Field::Choice(_))) => {}
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!(fields.len(), 3);
                let answer = raw(json!({"name": "Ada", "seats": 2, "seat": "window"}));
                form.check(&answer).unwrap();
                ElicitResult::accept(answer)
            });
            let (client, serving) = pair(answering, station());
            let text = success(client.call_tool("book", &json!({})).wait());
            assert_eq!(text, "2 seats for Ada at the window");
            part(client, serving);
        }
    });
}

#[test]
fn the_answer_to_a_derived_form_is_checked_against_its_schema() {
    with_timeout(|| {
        for (answer, field) in [
            (json!({"name": "Ada"}), "seats"),
            (json!({"name": "Ada", "seats": 5}), "seats"),
            (json!({"name": 1, "seats": 2}), "name"),
            (json!({"name": "Ada", "seats": 2, "seat": "roof"}), "seat"),
        ] {
            let answering =
                client().on_elicitation(move || ElicitResult::accept(raw(answer.clone())));
            let (client, serving) = pair(answering, station());
            let why = failure(client.call_tool("book", &json!({})).wait());
            assert!(why.contains("invalid answer to `booking`") && why.contains(field), "{why}");
            is_alive(&client);
            part(client, serving);
        }
    });
}

#[test]
fn a_type_that_is_not_a_form_fails_the_call_and_names_the_field() {
    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        booking: Booking,
    }
    with_timeout(|| {
        let server = server().add(tool("book", |cx: Cx| {
            let nested: Nested = cx.ask_form("booking", "Which seats?")?;
            Ok(nested.booking.name)
        }));
        let answering = client().on_elicitation(|| -> ElicitResult { panic!("must not ask") });
        let (client, serving) = pair(answering, server);
        let error = refusal(client.call_tool("book", &json!({})).wait());
        assert_eq!(error.code, code::INTERNAL_ERROR);
        let message = "`Nested` cannot be a form: field `booking` is an object; forms are flat";
        assert_eq!(&*error.message, message);
        part(client, serving);
    });
}

fn notary() -> Server {
    server()
        .add(tool("confirm", |cx: Cx| {
            Ok(if cx.confirm("sure", "Delete it?")? { "deleted" } else { "kept" })
        }))
        .add(tool("answer", |cx: Cx| {
            Ok(match cx.ask_form_answer::<Booking>("booking", "Which seats?")? {
                FormAnswer::Accepted(booking) => booking.name,
                FormAnswer::Declined => "declined".into(),
                FormAnswer::Cancelled => "cancelled".into(),
                _ => "unknown".into(),
            })
        }))
}

#[test]
fn a_handler_tells_accepted_declined_and_cancelled_apart() {
    with_timeout(|| {
        let booking = raw(json!({"name": "Ada", "seats": 2}));
        let (accept, empty) = (ElicitResult::accept(booking), ElicitResult::accept(raw(json!({}))));
        let decline = ElicitResult::new(ElicitAction::Decline);
        let cancel = ElicitResult::new(ElicitAction::Cancel);
        for revisions in [&Revision::ALL[..], &Revision::LEGACY[..]] {
            for (tool, answer, expected) in [
                ("confirm", &empty, "deleted"),
                ("confirm", &decline, "kept"),
                ("confirm", &cancel, "kept"),
                ("answer", &accept, "Ada"),
                ("answer", &decline, "declined"),
                ("answer", &cancel, "cancelled"),
            ] {
                let answer = answer.clone();
                let user = client().revisions(revisions).on_elicitation(move || answer.clone());
                let (client, serving) = pair(user, notary());
                assert_eq!(success(client.call_tool(tool, &json!({})).wait()), expected);
                part(client, serving);
            }
            // An accepted form that lacks a field is an error for the model.
            let user = client().revisions(revisions).on_elicitation({
                let empty = empty.clone();
                move || empty.clone()
            });
            let (client, serving) = pair(user, notary());
            let failed = failure(client.call_tool("answer", &json!({})).wait());
            assert!(failed.starts_with("invalid answer to `booking`"), "{failed}");
            part(client, serving);
        }
    });
}

#[test]
fn an_accepted_form_without_contents_is_checked_like_an_empty_one() {
    // Serde does not require the field, but the form does.
    #[derive(Deserialize, JsonSchema)]
    struct Reason {
        #[schemars(required)]
        reason: Option<String>,
    }
    with_timeout(|| {
        for (content, expected) in [
            (None, Err("invalid answer to `why`")),
            (Some(json!({})), Err("invalid answer to `why`")),
            (Some(json!({"reason": "rain"})), Ok("Some(\"rain\")")),
        ] {
            let server = server().add(tool("why", |cx: Cx| {
                let answer = cx.ask_form_answer::<Reason>("why", "Why?")?;
                Ok(format!("{:?}", answer.accepted().ok_or("no reason")?.reason))
            }));
            let user = client().on_elicitation(move || match &content {
                Some(content) => ElicitResult::accept(raw(content.clone())),
                None => ElicitResult::new(ElicitAction::Accept),
            });
            let (client, serving) = pair(user, server);
            let answer = client.call_tool("why", &json!({})).wait();
            match expected {
                Ok(expected) => assert_eq!(success(answer), expected),
                Err(expected) => {
                    let why = failure(answer);
                    assert!(why.starts_with(expected) && why.contains("reason"), "{why}");
                }
            }
            part(client, serving);
        }
    });
}

#[test]
fn only_an_accepted_form_has_contents() {
    assert_eq!(FormAnswer::Accepted(1).accepted(), Some(1));
    assert_eq!(FormAnswer::<u8>::Declined.accepted(), None);
    assert_eq!(FormAnswer::<u8>::Cancelled.accepted(), None);
}

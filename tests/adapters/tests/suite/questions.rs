//! Questions of handlers that run again: what must not happen twice, and mistakes that are loud.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapter::layers::{Incoming, Next, Timeout};
use mcp_adapter::proto::schema::{ElicitAction, ElicitResult};
use mcp_adapter::proto::{CallError, Revision};
use mcp_adapter::testing::{TestPair, pair};
use mcp_adapter::{Client, Cx, Error, HandlerError, Server};
use serde_json::json;

const ERAS: [&[Revision]; 2] = [&Revision::LEGACY, &[Revision::V2026_07_28]];

/// Pairs for a server in both eras, with a client that accepts every question.
fn in_both_eras(server: &Server) -> impl Iterator<Item = TestPair> {
    ERAS.into_iter().map(move |revisions| {
        let accept = || ElicitResult::new(ElicitAction::Accept);
        let client = Client::new("c", "1").on_elicitation(accept).revisions(revisions);
        pair(server, client).unwrap()
    })
}

/// Returns the message of the error with which a call fails.
fn refusal(pair: &mut TestPair, tool: &str) -> String {
    match pair.call_tool(tool, &json!({})).unwrap_err().error() {
        Error::Call(CallError::Refused(error)) => {
            assert_eq!(error.code, mcp_adapter::proto::code::INTERNAL_ERROR);
            error.message.to_string()
        }
        error => panic!("{error}"),
    }
}

#[test]
fn an_action_between_questions_runs_once() {
    let paid = Arc::new(AtomicUsize::new(0));
    let (pay, pay_later) = (Arc::clone(&paid), Arc::clone(&paid));
    let server = Server::new("server", "1")
        .tool("buy", "Buys a book", move |cx: Cx| {
            cx.confirm("buy", "Buy it?")?;
            let receipt = cx.once("pay", || Ok(pay.fetch_add(1, Ordering::Relaxed)))?;
            cx.confirm("gift", "Is it a gift?")?;
            let same = cx.once("pay", || Err::<usize, _>(HandlerError::failed("paid twice")))?;
            Ok(format!("{receipt} {same}"))
        })
        .tool("buy_async", "Buys a book", move |cx: Cx| {
            let paid = Arc::clone(&pay_later);
            async move {
                cx.confirm("buy", "Buy it?")?;
                let pay = || async { Ok(paid.fetch_add(1, Ordering::Relaxed)) };
                let receipt = cx.once("pay", pay).await?;
                cx.confirm("gift", "Is it a gift?")?;
                Ok(format!("{receipt} {receipt}"))
            }
        });
    let mut bought = 0;
    for mut pair in in_both_eras(&server) {
        for tool in ["buy", "buy_async"] {
            let result = pair.call_tool(tool, &json!({})).unwrap();
            assert_eq!(result.content[0].as_text(), Some(&*format!("{bought} {bought}")));
            bought += 1;
        }
    }
    assert_eq!(paid.load(Ordering::Relaxed), bought);
}

#[test]
fn an_action_that_fails_runs_again() {
    let tries = AtomicUsize::new(0);
    let server = Server::new("server", "1").tool("buy", "Buys a book", move |cx: Cx| {
        let paid = cx.once("pay", || match tries.fetch_add(1, Ordering::Relaxed) {
            0 => Err(HandlerError::failed("no connection")),
            other => Ok(other),
        });
        cx.confirm("buy", "Buy it?")?;
        paid
    });
    let mut pair = in_both_eras(&server).next().unwrap();
    let result = pair.call_tool("buy", &json!({})).unwrap();
    assert_eq!(result.content[0].as_text(), Some("1"));
}

#[test]
fn a_question_cannot_be_ignored() {
    let server = Server::new("server", "1")
        .tool("default", "Ignores the error", |cx: Cx| {
            Ok(cx.confirm("sure", "Really?").unwrap_or_default())
        })
        .tool("fail", "Replaces the error", |cx: Cx| {
            cx.confirm("sure", "Really?").map_err(|_| HandlerError::failed("no answer"))
        });
    for mut pair in in_both_eras(&server) {
        for tool in ["default", "fail"] {
            let why = refusal(&mut pair, tool);
            assert!(why.contains("asked `sure`") && why.contains("with `?`"), "{why}");
        }
    }
}

#[test]
fn a_layer_that_answers_ignores_no_question() {
    let late = Duration::from_secs(5);
    let server = Server::new("server", "1")
        .layer(Timeout::new(Duration::from_secs(1)))
        .layer(|request: Incoming, next: Next| async move {
            let is_replaced = request.name().as_deref() == Some("replaced");
            let response = next.run(request).await;
            if is_replaced { HandlerError::failed("another answer").into() } else { response }
        })
        .tool("late", "Asks and takes too long", move |cx: Cx| async move {
            let sure = cx.confirm("sure", "Really?");
            cx.sleep(late).await;
            sure
        })
        .tool("replaced", "Asks", |cx: Cx| cx.confirm("sure", "Really?"))
        .tool("ignored", "Ignores the error", |cx: Cx| {
            Ok(cx.confirm("sure", "Really?").unwrap_or_default())
        });
    for mut pair in in_both_eras(&server) {
        for (tool, answer) in [("late", "did not finish within 1s"), ("replaced", "another answer")]
        {
            let result = pair.call_tool(tool, &json!({})).unwrap();
            let text = result.content[0].as_text().unwrap_or_default();
            assert!(result.is_error && text.contains(answer), "{tool}: {text}");
        }
        let why = refusal(&mut pair, "ignored");
        assert!(why.contains("asked `sure`"), "{why}");
    }
}

#[test]
fn a_key_names_one_question() {
    let server = Server::new("server", "1").tool("twice", "Asks twice", |cx: Cx| {
        let first = cx.confirm("sure", "Really?")?;
        let second = cx.confirm("sure", "Really really?")?;
        Ok(first && second)
    });
    for mut pair in in_both_eras(&server) {
        let why = refusal(&mut pair, "twice");
        assert!(why.contains("twice with the key `sure`"), "{why}");
    }
}

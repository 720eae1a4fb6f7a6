//! Subscriptions, from the side of the client, in both eras.

use std::thread;
use std::time::Duration;

use mcp_blocking::proto::{CallError, CloseReason, Era, Filter, Limits, Raw, code};
use mcp_blocking::{Changed, Client, Connection, Error, Subscription};
use serde_json::{Value, json};

use crate::common::eras::meet;
use crate::common::{Hand, client, refusal, with_timeout};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

const TOOLS: &str = "notifications/tools/list_changed";
const UPDATED: &str = "notifications/resources/updated";

/// Returns capabilities that allow every subscription.
fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true}, "prompts": {"listChanged": true},
        "resources": {"listChanged": true, "subscribe": true},
    })
}

/// The server's side of a subscription to the tools and the resource `uri`, in either era.
struct Told {
    hand: Hand,
    /// The request that opened it: `subscriptions/listen` or `resources/subscribe`.
    request: Value,
    era: Era,
}

impl Told {
    fn tell(&mut self, method: &str, params: Value) {
        match self.era {
            Era::Legacy => self.hand.notify(method, &params),
            Era::Modern => self.hand.tell(&self.request, method, params),
        }
    }

    fn tell_of(&mut self, uri: &str) {
        self.tell(UPDATED, json!({"uri": uri}));
    }
}

/// Opens a subscription to the tools and the resource `note://one`.
fn listen(era: Era, client: Client) -> (Connection, Subscription, Told) {
    let (connection, mut hand) = meet(era, client, &capabilities());
    let asking = connection.clone();
    let filter = Filter::new().tools().resource("note://one");
    let listening = thread::spawn(move || asking.subscribe(&filter).wait().unwrap());
    let request = hand.hear();
    match era {
        Era::Legacy => {
            assert_eq!(
                (&request["method"], &request["params"]["uri"]),
                (&json!("resources/subscribe"), &json!("note://one"))
            );
            hand.answer(&request, &json!({}));
        }
        Era::Modern => {
            let asked = json!({"toolsListChanged": true, "resourceSubscriptions": ["note://one"]});
            assert_eq!(request["method"], "subscriptions/listen");
            assert_eq!(request["params"]["notifications"], asked);
            hand.acknowledge(&request, &asked);
        }
    }
    (connection, listening.join().unwrap(), Told { hand, request, era })
}

/// Waits until all output of the server was handled, with a later request.
fn settled(connection: &Connection, told: &mut Told) {
    let question = connection.call_raw("test/settled", Raw::empty_object()).start().wait().unwrap();
    let asked = told.hand.hear();
    told.hand.refuse(&asked, code::METHOD_NOT_FOUND);
    assert_eq!(refusal(question.wait()).code, code::METHOD_NOT_FOUND);
}

// STL-29, STL-33, CAN-01
#[test]
fn changes_arrive_until_the_subscription_is_dropped_and_the_server_is_notified() {
    with_timeout(|| {
        for era in ERAS {
            let (connection, mut listening, mut told) = listen(era, client());
            assert_eq!(listening.acknowledged(), Filter::new().tools().resource("note://one"));
            told.tell(TOOLS, json!({}));
            told.tell_of("note://one");
            assert_eq!(listening.next().wait().unwrap(), Some(Changed::Tools));
            assert_eq!(
                listening.next().wait().unwrap(),
                Some(Changed::Resource("note://one".into()))
            );
            assert_eq!(
                (listening.next_within(Duration::from_millis(1)), listening.ended()),
                (None, None)
            );
            drop(listening);
            let end = told.hand.hear();
            match era {
                Era::Legacy => assert_eq!(end["method"], "resources/unsubscribe"),
                Era::Modern => {
                    assert_eq!(end["method"], "notifications/cancelled");
                    assert_eq!(end["params"]["requestId"], told.request["id"]);
                }
            }
            connection.close().wait().unwrap();
        }
    });
}

// T-122
#[test]
fn a_change_below_a_resource_has_its_own_uri() {
    with_timeout(|| {
        for era in ERAS {
            let (connection, mut listening, mut told) = listen(era, client());
            told.tell_of("note://one/line/5");
            assert_eq!(
                listening.next().wait().unwrap(),
                Some(Changed::Resource("note://one/line/5".into()))
            );
            connection.close().wait().unwrap();
        }
    });
}

// STL-30, STL-35
#[test]
fn a_server_may_acknowledge_less_than_requested() {
    with_timeout(|| {
        let everything = Filter::new().tools().prompts().resources().resource("note://one");
        let (connection, mut hand) = meet(Era::Modern, client(), &capabilities());
        let (asking, filter) = (connection.clone(), everything.clone());
        let listening = thread::spawn(move || asking.subscribe(&filter).wait().unwrap());
        let request = hand.hear();
        hand.acknowledge(&request, &json!({"promptsListChanged": true}));
        assert_eq!(listening.join().unwrap().acknowledged(), Filter::new().prompts());
        connection.close().wait().unwrap();

        // In the legacy era, this follows from the capabilities of the server.
        let (connection, _hand) =
            meet(Era::Legacy, client(), &json!({"prompts": {"listChanged": true}}));
        assert_eq!(
            connection.subscribe(&everything).wait().unwrap().acknowledged(),
            Filter::new().prompts()
        );
        connection.close().wait().unwrap();
    });
}

// STL-36, T-101
#[test]
fn changes_before_the_end_of_a_subscription_are_delivered() {
    with_timeout(|| {
        let (connection, mut listening, mut told) = listen(Era::Modern, client());
        told.tell(TOOLS, json!({}));
        told.tell_of("note://one");
        let last_word = json!({"resultType": "complete",
            "_meta": {"io.modelcontextprotocol/subscriptionId": told.request["id"]}});
        let request = told.request.clone();
        told.hand.answer(&request, &last_word);
        settled(&connection, &mut told);
        assert_eq!(listening.ended(), Some(Ok(())));
        let heard: Vec<_> = listening.iter().collect();
        assert_eq!(heard, [Changed::Tools, Changed::Resource("note://one".into())]);
        // No cancellation is sent for a subscription that has ended.
        settled(&connection, &mut told);
        connection.close().wait().unwrap();
    });
}

// STL-37, T-101
#[test]
fn a_subscription_withdrawn_by_the_server_reports_it() {
    with_timeout(|| {
        let (connection, mut listening, mut told) = listen(Era::Modern, client());
        let id = told.request["id"].clone();
        told.hand
            .notify("notifications/cancelled", &json!({"requestId": id, "reason": "too many"}));
        assert_eq!(listening.next().wait().unwrap(), None);
        assert_eq!(listening.ended(), Some(Err(CallError::SubscriptionEnded)));
        connection.close().wait().unwrap();
    });
}

#[test]
fn the_end_of_the_connection_ends_waits_for_changes() {
    with_timeout(|| {
        for era in ERAS {
            // Closed by this side.
            let (connection, mut listening, told) = listen(era, client());
            let waiting =
                thread::spawn(move || (listening.next().wait().unwrap(), listening.ended()));
            connection.close().wait().unwrap();
            assert_eq!(waiting.join().unwrap(), (None, Some(Err(CallError::Lost))));
            drop(told);

            // Closed by the server.
            let (connection, mut listening, mut told) = listen(era, client());
            told.tell(TOOLS, json!({}));
            drop(told);
            assert_eq!(
                (listening.next().wait().unwrap(), listening.next().wait().unwrap()),
                (Some(Changed::Tools), None)
            );
            assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
            assert_eq!(connection.close_reason(), Some(CloseReason::Peer));
            connection.close().wait().unwrap();

            // Closed by dropping the last handle.
            let (connection, mut listening, _told) = listen(era, client());
            drop(connection);
            assert_eq!(listening.iter().count(), 0);
        }
    });
}

// TMO-03
#[test]
fn a_subscription_that_the_server_refuses_or_ignores_is_an_error() {
    with_timeout(|| {
        let limits = Limits { call_timeout: Duration::from_millis(50), ..Limits::default() };
        let (connection, mut hand) = meet(Era::Modern, client().limits(limits), &capabilities());
        let outcome = connection.subscribe(&Filter::new().tools()).wait();
        assert!(matches!(outcome, Err(Error::Call(CallError::TimedOut))), "{outcome:?}");
        let ignored = hand.hear();
        assert_eq!(hand.hear_notification("notifications/cancelled")["requestId"], ignored["id"]);

        let asking = connection.clone();
        let refused = thread::spawn(move || asking.subscribe(&Filter::new().tools()).wait());
        let request = hand.hear();
        hand.refuse(&request, code::METHOD_NOT_FOUND);
        assert_eq!(refusal(refused.join().unwrap()).code, code::METHOD_NOT_FOUND);

        let asking = connection.clone();
        let lost = thread::spawn(move || asking.subscribe(&Filter::new().tools()).wait());
        hand.hear();
        drop(hand);
        let outcome = lost.join().unwrap();
        assert!(matches!(outcome, Err(Error::Call(CallError::Lost))), "{outcome:?}");
        connection.close().wait().unwrap();
    });
}

#[test]
fn unread_changes_are_merged_and_none_is_lost() {
    with_timeout(|| {
        for era in ERAS {
            let (connection, mut listening, mut told) = listen(era, client());
            for _ in 0..3 {
                told.tell(TOOLS, json!({}));
                told.tell_of("note://one");
            }
            settled(&connection, &mut told);
            assert_eq!(listening.next().wait().unwrap(), Some(Changed::Tools));
            assert_eq!(
                listening.next().wait().unwrap(),
                Some(Changed::Resource("note://one".into()))
            );

            // More than are tracked individually.
            told.tell(TOOLS, json!({}));
            for number in 0..2000 {
                told.tell_of(&format!("note://one/{number}"));
            }
            settled(&connection, &mut told);
            assert_eq!(listening.next().wait().unwrap(), Some(Changed::Tools));
            assert_eq!(listening.next().wait().unwrap(), Some(Changed::ManyResources));
            assert_eq!(listening.next_within(Duration::ZERO), None, "the others were merged");

            // More bytes of URIs than are kept.
            for number in 0..3 {
                told.tell_of(&format!("note://one/{}/{number}", "x".repeat(500_000)));
            }
            settled(&connection, &mut told);
            assert_eq!(listening.next().wait().unwrap(), Some(Changed::ManyResources));
            told.tell_of("note://one");
            assert_eq!(
                listening.next().wait().unwrap(),
                Some(Changed::Resource("note://one".into()))
            );
            connection.close().wait().unwrap();
        }
    });
}

// STL-34
#[test]
fn subscriptions_are_independent() {
    with_timeout(|| {
        for era in ERAS {
            let hears = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let other = std::sync::Arc::clone(&hears);
            let client = client()
                .on_notification(move |method, _, _| other.lock().unwrap().push(method.to_owned()));
            let (connection, mut notes, mut told) = listen(era, client);
            let asking = connection.clone();
            let prompts =
                thread::spawn(move || asking.subscribe(&Filter::new().prompts()).wait().unwrap());
            if era == Era::Modern {
                let request = told.hand.hear();
                told.hand.acknowledge(&request, &json!({"promptsListChanged": true}));
                told.hand.tell(&request, "notifications/prompts/list_changed", json!({}));
            }
            let mut prompts = prompts.join().unwrap();
            if era == Era::Legacy {
                told.tell("notifications/prompts/list_changed", json!({}));
            }
            told.tell_of("note://one");
            assert_eq!(prompts.next().wait().unwrap(), Some(Changed::Prompts));
            assert_eq!(notes.next().wait().unwrap(), Some(Changed::Resource("note://one".into())));
            settled(&connection, &mut told);
            assert_eq!(prompts.next_within(Duration::ZERO), None);
            assert_eq!(notes.next_within(Duration::ZERO), None);
            connection.close().wait().unwrap();
            assert_eq!(
                *hears.lock().unwrap(),
                [] as [String; 0],
                "only the subscription receives it"
            );
        }
    });
}

//! Users who log out or are locked out: their sessions and subscriptions end, and no others.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use mcp_adapter::proto::{Principal, Progress};
use mcp_adapter::{Cx, Tool};
use mcp_blocking::http::Http;
use mcp_http_tests::{
    PATIENCE, Reply, Runtime, Served, eventually, get, modern, post, rows, server, text, tool,
};
use serde_json::json;

use crate::principals::{ADA, EVE, User, user, within};

rows! {
    the_end_of_a_principal_ends_its_sessions_and_subscriptions_only,
    the_end_of_a_principal_reaches_all_servers_that_share_options,
}

fn principal(id: &str) -> Principal {
    Principal::new(id).unwrap()
}

fn listen(user: User, served: &Served) -> Reply {
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = user.asks(modern("subscriptions/listen", filter), served);
    assert_eq!(listening.message().unwrap()["method"], "notifications/subscriptions/acknowledged");
    listening
}

fn ping(user: User, session: &str, served: &Served) -> u16 {
    let ping = post(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}));
    user.asks(within(session, ping), served).status
}

fn the_end_of_a_principal_ends_its_sessions_and_subscriptions_only<R: Runtime>() {
    let (go, goes) = channel::<()>();
    let goes = Arc::new(Mutex::new(goes));
    let server = server().add(Tool::define(tool("wait"), move |cx: Cx| {
        cx.progress(Progress::new(1.0))?;
        goes.lock().unwrap().recv_timeout(PATIENCE)?;
        Ok("done")
    }));
    let options = Http::new().authenticating(user);
    let (control, stats) = (options.session_control(), options.stats());
    let served = Served::on::<R>(server, options);
    let adas = [ADA.opens(&served), ADA.opens(&served)];
    let eves = EVE.opens(&served);
    let mut adas_stream = ADA.asks(within(&adas[0], get(&adas[0])), &served);
    let (mut adas_subscription, mut eves_subscription) =
        (listen(ADA, &served), listen(EVE, &served));
    let params = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": 1}});
    let call = post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    let mut waiting = ADA.asks(within(&adas[1], call), &served);
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");

    assert_eq!(control.end_principal(&principal("ada")), 3, "two sessions and a subscription");
    let result = adas_subscription.message().expect("a result");
    assert!(result["result"].is_object(), "{result}");
    assert_eq!((adas_subscription.message(), adas_stream.message()), (None, None));
    assert_eq!(adas.each_ref().map(|session| ping(ADA, session, &served)), [404, 404]);
    // A request in progress is still answered.
    go.send(()).unwrap();
    assert_eq!(text(&waiting.message().unwrap()), "done");
    drop(waiting);

    assert_eq!(ping(EVE, &eves, &served), 200);
    assert_eq!(control.end_principal(&principal("ada")), 0, "all have ended");
    assert_eq!(control.end_principal(&principal("unknown")), 0);
    let again = ADA.opens(&served);
    assert_eq!(ping(ADA, &again, &served), 200);
    assert_eq!(control.end_principal(&principal("eve")), 2, "a session and a subscription");
    assert!(eves_subscription.message().unwrap()["result"].is_object());
    eventually("ended sessions count", || (stats.sessions() == 1).then_some(()));
}

fn the_end_of_a_principal_reaches_all_servers_that_share_options<R: Runtime>() {
    let options = Http::new().authenticating(user);
    let control = options.session_control();
    let served = [(), ()].map(|()| Served::on::<R>(server(), options.clone()));
    let sessions = served.each_ref().map(|served| ADA.opens(served));
    assert_eq!(control.end_principal(&principal("ada")), 2);
    for (served, session) in served.iter().zip(&sessions) {
        assert_eq!(ping(ADA, session, served), 404);
    }
}

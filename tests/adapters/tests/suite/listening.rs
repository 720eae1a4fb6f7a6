//! Subscriptions to changes in both eras, including by clients that read slowly.

use mcp_adapter::proto::{CallError, Era, Filter, Revision};
use mcp_adapter::{
    Changed, Cx, HandlerError, Lists, Prompt, SubscriptionChange, SubscriptionSettings, Tool,
};
use mcp_adapter_tests::{
    Runtime, client, failure, full_server, pair, rows, serve_by_hand, server, success,
};
use serde_json::json;
use smol::channel::unbounded;
use smol::future::poll_once;
use smol::stream::StreamExt as _;

rows! {
    changes_arrive_in_both_eras_until_the_subscription_ends,
    dropping_a_wait_for_a_change_loses_no_change,
    a_subscription_is_a_stream,
    a_subscription_ends_with_its_connection,
    announcing_changes_never_waits_for_a_slow_client,
    tools_come_and_go_while_serving,
    an_edit_that_leaves_a_list_as_it_was_is_not_announced,
    a_list_whose_changes_are_not_declared_cannot_be_edited,
}

const ERAS: [(&[Revision], Era); 2] =
    [(&Revision::LEGACY, Era::Legacy), (&[Revision::V2026_07_28], Era::Modern)];

fn note() -> Changed {
    Changed::Resource("note://one".into())
}

async fn changes_arrive_in_both_eras_until_the_subscription_ends<R: Runtime>() {
    for (revisions, era) in ERAS {
        let (says, watched) = unbounded();
        let mut server = full_server().subscriptions(
            SubscriptionSettings::new()
                .on_change(move |watch| says.try_send(watch.clone()).unwrap()),
        );
        let changes = server.changes();
        let (connection, serving) = pair::<R>(client().revisions(revisions), server).await;
        assert_eq!(connection.era(), era);
        let filter = Filter::new().tools().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap();
        assert_eq!(listening.acknowledged(), filter);
        let began = watched.recv().await.unwrap();
        assert!(matches!(began, SubscriptionChange::Began { .. }), "{began:?}");
        assert_eq!((began.uri(), began.principal()), ("note://one", None));
        changes.tools_list_changed().unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
        changes.resource_updated("note://one").unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(note()));
        drop(listening);
        let ended = watched.recv().await.unwrap();
        assert!(matches!(ended, SubscriptionChange::Ended { .. }), "{ended:?}");
        assert_eq!((ended.uri(), ended.principal()), ("note://one", None));
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

async fn dropping_a_wait_for_a_change_loses_no_change<R: Runtime>() {
    let mut server = full_server();
    let changes = server.changes();
    let (connection, _serving) = pair::<R>(client(), server).await;
    let mut listening = connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
    for _ in 0..10 {
        assert!(poll_once(listening.next()).await.is_none());
        changes.resource_updated("note://one").unwrap();
        assert_eq!(listening.next().await.unwrap(), Some(note()));
    }
}

async fn a_subscription_is_a_stream<R: Runtime>() {
    for (revisions, _) in ERAS {
        let mut server = full_server();
        let changes = server.changes();
        let (connection, serving) = pair::<R>(client().revisions(revisions), server).await;
        let filter = Filter::new().tools().resource("note://one");
        let mut listening = connection.subscribe(&filter).await.unwrap().filter(|it| *it != note());
        // Registered before the change, which then wakes the stream.
        assert_eq!(poll_once(listening.next()).await, None);
        changes.resource_updated("note://one").unwrap();
        changes.tools_list_changed().unwrap();
        assert_eq!(listening.next().await, Some(Changed::Tools));
        connection.clone().close().await.unwrap();
        assert_eq!(listening.next().await, None);
        serving.ends_well().await;
    }
}

async fn a_subscription_ends_with_its_connection<R: Runtime>() {
    for (revisions, _) in ERAS {
        let (connection, serving) = pair::<R>(client().revisions(revisions), full_server()).await;
        let mut listening =
            connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
        drop(connection);
        assert_eq!(listening.next().await.unwrap(), None);
        assert_eq!(listening.ended(), Some(Err(CallError::Lost)));
        serving.ends_well().await;
    }
}

async fn announcing_changes_never_waits_for_a_slow_client<R: Runtime>() {
    let mut server = full_server();
    let changes = server.changes();
    // This client never reads.
    let (_deaf, _deaf_serving) = serve_by_hand::<R>(server.clone()).await;
    let (connection, _serving) = pair::<R>(client(), server).await;
    let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
    for _ in 0..20_000 {
        changes.tools_list_changed().unwrap();
    }
    // Waiting for the deaf client even once would exceed the time limit.
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
}

async fn tools_come_and_go_while_serving<R: Runtime>() {
    let mut server = full_server();
    let changes = server.changes();
    let (connection, _serving) = pair::<R>(client(), server).await;
    let mut listening = connection.subscribe(&Filter::new().tools()).await.unwrap();
    changes.add(Tool::new("new", || "new")).unwrap();
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
    let outcome = connection.call_tool("new", &json!({})).await;
    assert_eq!(success(outcome), "new");
    changes.edit(|edit| edit.remove_tool("new")).unwrap();
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
    connection.call_tool("new", &json!({})).await.unwrap_err();
}

async fn an_edit_that_leaves_a_list_as_it_was_is_not_announced<R: Runtime>() {
    let mut server = full_server().tool("old", "Old", || "old");
    let changes = server.changes();
    let (connection, _serving) = pair::<R>(client(), server).await;
    let filter = Filter::new().tools().prompts();
    let mut listening = connection.subscribe(&filter).await.unwrap();
    let again = |name: &'static str| Tool::new("old", move || name).description("Old");
    changes.edit(|edit| edit.replace(again("new"))).unwrap();
    assert_eq!(success(connection.call_tool("old", &json!({})).await), "new");
    changes.add(Prompt::new("ask", || "ask")).unwrap();
    // The first edit would have been announced before.
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Prompts));
}

async fn a_list_whose_changes_are_not_declared_cannot_be_edited<R: Runtime>() {
    let add = |name: &'static str| {
        move |cx: Cx| {
            cx.changes().edit(|edit| match name {
                "grow" => edit.add(Tool::new("grown", || "grown")),
                _ => edit.add(Prompt::new("new", || "new")),
            })?;
            Ok::<_, HandlerError>("changed")
        }
    };
    let growing = || {
        server().tool("grow", "Adds a tool", add("grow")).tool("ask", "Adds a prompt", add("ask"))
    };
    let mut with_handle = growing();
    let _changes = with_handle.changes();
    for (server, tools, prompts) in [
        (growing(), false, false),
        // Declares lists that have entries.
        (growing().lists(Lists::new().announce_changes()), true, false),
        (with_handle, true, true),
    ] {
        let (connection, serving) = pair::<R>(client(), server).await;
        for (name, list, is_declared) in [("grow", "tools", tools), ("ask", "prompts", prompts)] {
            let outcome = connection.call_tool(name, &json!({})).await;
            if is_declared {
                assert_eq!(success(outcome), "changed");
            } else {
                let why = failure(outcome);
                assert!(why.contains(list) && why.contains("announce_changes"), "{why}");
            }
        }
        let listed = connection.list_tools().await.unwrap().len();
        assert_eq!(listed, 2 + usize::from(tools), "a refused edit changes nothing");
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

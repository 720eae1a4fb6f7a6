//! Connections recorded on both sides, and replayed on machines without IO.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mcp_adapter::proto::record::{Recording, ReplayTotals};
use mcp_adapter::proto::schema::Level;
use mcp_adapter::proto::{Filter, Instant, Revision, RoleEndpoint};
use mcp_adapter::{Connection, Cx, Tool};
use mcp_adapter_tests::{
    Runtime, adapter_server, client, failure, full_server, pair, refusal, rows, success, tool,
};
use serde_json::json;

use crate::SERVER;

rows! {
    recordings_of_both_sides_replay_identically,
    each_connection_has_a_separate_recording,
    a_reconnect_starts_a_new_recording,
    a_recording_that_cannot_be_written_harms_nothing,
}

/// A recording in memory.
#[derive(Clone, Debug, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All recordings of one side.
#[derive(Clone, Debug, Default)]
struct Shelf(Arc<Mutex<Vec<Tape>>>);

impl Shelf {
    fn fresh(&self) -> Tape {
        let tape = Tape::default();
        self.0.lock().unwrap().push(tape.clone());
        tape
    }

    fn all(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().iter().map(|tape| tape.0.lock().unwrap().clone()).collect()
    }

    /// Returns the only recording.
    fn only(&self) -> Vec<u8> {
        let mut all = self.all();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }
}

/// Replays a recording on a machine from `machine`.
fn replay<M: RoleEndpoint>(tape: &[u8], machine: impl FnOnce(Instant) -> M) -> ReplayTotals {
    let recording = Recording::read(tape).unwrap();
    assert!(recording.is_complete());
    recording
        .replay(&mut machine(recording.created_at()))
        .unwrap_or_else(|diverged| panic!("{diverged}\n{}", recording.show(true)))
}

/// Uses every feature: results, failures, progress, a question, log messages, changes, and a
/// cancelled call.
async fn talk(connection: &Connection) {
    let mut listening = connection.subscribe(&Filter::new().resource("note://one")).await.unwrap();
    connection.set_log_level(Level::Debug).await.unwrap();
    for kind in ["", "_plain"] {
        let call =
            |tool: &str| connection.call_tool(&format!("{tool}{kind}"), &json!({"text": "hello"}));
        assert_eq!(success(call("echo").await), "hello");
        assert_eq!(failure(call("fail").await), "it failed");
        assert_eq!(&*refusal(call("refuse").await).message, "refused on request");
        assert_eq!(&*refusal(call("panic").await).message, "the handler failed");
        assert_eq!(success(call("count").progress(|_| {}).await), "100");
        assert_eq!(success(call("who").await), "Ada");
        drop(call("hang").start().await.unwrap());
    }
    assert_eq!(success(connection.call_tool("log", &json!({"times": 3})).await), "3");
    assert_eq!(success(connection.call_tool("hang_up", &json!({})).await), "here again");
    assert_eq!(success(connection.call_tool("change", &json!({})).await), "changed");
    assert!(listening.next().await.unwrap().is_some());
    drop(listening);
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "bye"})).await), "bye");
}

async fn recordings_of_both_sides_replay_identically<R: Runtime>() {
    for revisions in [&Revision::LEGACY[..], &[Revision::V2026_07_28]] {
        let (ours, theirs) = (Shelf::default(), Shelf::default());
        let (our_shelf, their_shelf) = (ours.clone(), theirs.clone());
        let client = || client().revisions(revisions);
        let server = full_server().record(move || Ok(their_shelf.fresh())).add(Tool::define(
            tool("hang_up"),
            |cx: Cx| {
                // This has no effect over a byte stream, but it is recorded.
                cx.end_stream()?;
                Ok("here again")
            },
        ));
        let (connection, serving) =
            pair::<R>(client().record(move || Ok(our_shelf.fresh())), server.clone()).await;
        talk(&connection).await;
        connection.clone().close().await.unwrap();
        serving.ends_well().await;

        // The replay yields the recorded commands and every byte sent.
        let (our_tape, their_tape) = (ours.only(), theirs.only());
        let here = replay(&our_tape, |began| client().machine(began));
        let there = replay(&their_tape, |began| server.machine(began).unwrap());
        assert!(here.commands > 15 && there.commands > 200, "{here:?} {there:?}");
        let told = Recording::read(&their_tape).unwrap().show(false).to_string();
        for deed in [
            "@ respond",
            "@ fail",
            "@ progress",
            "@ ask",
            "@ log",
            "@ changed",
            "@ end stream",
            "cancelled",
        ] {
            assert!(told.contains(deed), "{deed} in\n{told}");
        }
        assert!(!told.contains("hello"), "{told}");
    }
}

async fn each_connection_has_a_separate_recording<R: Runtime>() {
    let shelf = Shelf::default();
    let fresh = shelf.clone();
    let server = full_server().record(move || Ok(fresh.fresh()));
    for text in ["one", "two"] {
        let (connection, serving) = pair::<R>(client(), server.clone()).await;
        assert_eq!(success(connection.call_tool("echo", &json!({"text": text})).await), text);
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
    let tapes = shelf.all();
    assert_eq!(tapes.len(), 2);
    for (tape, (own, other)) in tapes.iter().zip([("one", "two"), ("two", "one")]) {
        replay(tape, |began| server.machine(began).unwrap());
        let output = Recording::read(tape).unwrap().show(true).to_string();
        assert!(
            output.contains(&format!(r#""{own}""#)) && !output.contains(&format!(r#""{other}""#)),
            "{output}"
        );
    }
}

async fn a_reconnect_starts_a_new_recording<R: Runtime>() {
    let shelf = Shelf::default();
    let fresh = shelf.clone();
    let ours = client().record(move || Ok(fresh.fresh()));
    let first = R::spawn(ours, adapter_server::<R>(SERVER)).await.unwrap();
    let era = first.era();
    let second = first.reconnect().await.unwrap();
    second.close().await.unwrap();
    let tapes = shelf.all();
    assert_eq!(tapes.len(), 2);
    replay(&tapes[0], |began| client().machine(began));
    // The second connection already knew the server's era.
    replay(&tapes[1], |began| client().expect_era(era).machine(began));
}

/// A writer that fails or panics.
#[derive(Debug)]
enum Broken {
    Fails,
    Panics,
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self {
            Self::Fails => Err(io::ErrorKind::StorageFull.into()),
            Self::Panics => panic!("a disk that panics"),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn a_recording_that_cannot_be_written_harms_nothing<R: Runtime>() {
    let unmade = || Err::<Broken, _>(io::ErrorKind::PermissionDenied.into());
    for (ours, theirs) in [
        (client().record(unmade), full_server().record(unmade)),
        (client().record(|| Ok(Broken::Fails)), full_server().record(|| Ok(Broken::Fails))),
        (client().record(|| Ok(Broken::Panics)), full_server().record(|| Ok(Broken::Panics))),
    ] {
        let (connection, serving) = pair::<R>(ours, theirs).await;
        // More than a buffer holds.
        let long = "long".repeat(20_000);
        for _ in 0..2 {
            assert_eq!(success(connection.call_tool("echo", &json!({"text": long})).await), long);
        }
        connection.clone().close().await.unwrap();
        serving.ends_well().await;
    }
}

//! Clients and servers of every set of revisions against each other: what they negotiate, in how
//! many messages.

use bytes::Buf;
use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallOptions, Capability, CloseReason, Endpoint, Era, Fault, Instant, Revision, code,
};

/// The outcome of connecting: the revision or the fault, and the messages in each direction.
#[derive(Debug, Eq, PartialEq)]
struct Connected {
    outcome: Result<Revision, Fault>,
    from_client: usize,
    from_server: usize,
}

/// Transfers queued messages, and returns their number.
fn carry(from: &mut impl Endpoint, to: &mut impl Endpoint) -> usize {
    let outbox = from.outbox();
    let bytes = outbox.copy_to_bytes(outbox.remaining());
    to.handle_input(Instant::ZERO, &bytes);
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn connect(ours: &[Revision], theirs: &[Revision]) -> Connected {
    let now = Instant::ZERO;
    let mut client = Stdio::new(Client::new(now, client::Config::new("c", "1").revisions(ours)));
    let config = server::Config::new("s", "1").capability(Capability::Tools).revisions(theirs);
    let mut server = Stdio::new(Server::new(now, config));
    let (mut from_client, mut from_server) = (0, 0);
    loop {
        let there = carry(&mut client, &mut server);
        let back = carry(&mut server, &mut client);
        if there + back == 0 {
            break;
        }
        from_client += there;
        from_server += back;
        assert!(from_client < 10, "a loop");
    }
    let outcome = match (client.peer(), client.close_reason()) {
        (Some(peer), None) => Ok(peer.revision),
        (None, Some(CloseReason::Fault(fault))) => Err(fault.clone()),
        other => panic!("neither connected nor refused: {other:?}"),
    };
    // The negotiated revision works, without violations.
    if outcome.is_ok() {
        client.call_raw(now, "tools/list", None, CallOptions::default()).unwrap();
        carry(&mut client, &mut server);
        let mut requests = 0;
        while let Some(event) = server.poll_event() {
            match event {
                server::Event::Ready(_) => {}
                server::Event::Request { context, .. } => {
                    assert_eq!(Ok(context.peer.revision), outcome);
                    requests += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(requests, 1);
    }
    Connected { outcome, from_client, from_server }
}

const MODERN: &[Revision] = &[Revision::V2026_07_28];
const LEGACY: &[Revision] = &Revision::LEGACY;
const DUAL: &[Revision] = &Revision::ALL;

/// Client, server, outcome (an error by its code), and the number of messages from each.
type Cell<'a> = (&'a [Revision], &'a [Revision], Result<Revision, i64>, usize, usize);

#[test]
fn clients_and_servers_negotiate_the_newest_common_revision_lif_20_lif_26_lif_28_lif_32() {
    let (r4, r5) = (Ok(Revision::V2025_11_25), Ok(Revision::V2026_07_28));
    let table: [Cell<'_>; 9] = [
        (MODERN, MODERN, r5, 1, 1),
        (MODERN, LEGACY, Err(code::INVALID_REQUEST), 1, 1),
        (MODERN, DUAL, r5, 1, 1),
        (LEGACY, MODERN, Err(code::UNSUPPORTED_PROTOCOL_VERSION), 1, 1),
        (LEGACY, LEGACY, r4, 2, 1),
        (LEGACY, DUAL, r4, 2, 1),
        (DUAL, MODERN, r5, 1, 1),
        // discover, its error, initialize, its response, initialized
        (DUAL, LEGACY, r4, 3, 2),
        (DUAL, DUAL, r5, 1, 1),
    ];
    for (ours, theirs, outcome, from_client, from_server) in table {
        let connected = connect(ours, theirs);
        let found = match &connected.outcome {
            Ok(revision) => Ok(*revision),
            Err(Fault::Refused(error)) => Err(error.code),
            Err(other) => panic!("{ours:?} to {theirs:?}: {other:?}"),
        };
        let counts = (connected.from_client, connected.from_server);
        assert_eq!(
            (found, counts),
            (outcome, (from_client, from_server)),
            "{ours:?} to {theirs:?}"
        );
    }
}

/// Every set of revisions on both sides, against an independent model of the negotiation.
// LIF-25
#[test]
fn every_set_of_revisions_against_every_other_lif_03_lif_04_lif_05_lif_06_lif_25() {
    let sets: Vec<Vec<Revision>> = (1_usize..32)
        .map(|set| (0..5).filter(|bit| set >> bit & 1 == 1).map(|bit| Revision::ALL[bit]).collect())
        .collect();
    let newest =
        |set: &[Revision], era| set.iter().copied().filter(|revision| revision.era() == era).max();
    for ours in &sets {
        for theirs in &sets {
            let both_modern =
                newest(ours, Era::Modern).is_some() && newest(theirs, Era::Modern).is_some();
            let found = connect(ours, theirs).outcome;
            let offered = (newest(ours, Era::Legacy), newest(theirs, Era::Legacy));
            match offered {
                _ if both_modern => {
                    assert_eq!(found, Ok(Revision::V2026_07_28), "{ours:?} to {theirs:?}");
                }
                (Some(offer), Some(best)) => {
                    let answer = if theirs.contains(&offer) { offer } else { best };
                    let expected = if ours.contains(&answer) {
                        Ok(answer)
                    } else {
                        Err(Fault::NoCommonRevision(answer.name().to_owned()))
                    };
                    assert_eq!(found, expected, "{ours:?} to {theirs:?}");
                }
                _ => assert!(
                    matches!(found, Err(Fault::Refused(_))),
                    "{ours:?} to {theirs:?}: {found:?}"
                ),
            }
        }
    }
}

// LIF-33
#[test]
fn a_modern_server_names_its_revisions_when_it_refuses_initialize_lif_33_lif_15() {
    let Err(Fault::Refused(error)) = connect(LEGACY, MODERN).outcome else { panic!() };
    let data = error.data.unwrap();
    assert_eq!(data.member("supported").unwrap().as_str(), r#"["2026-07-28"]"#);
    assert_eq!(data.member("requested").unwrap().as_str(), r#""2025-11-25""#);
}

#[test]
fn a_configuration_without_revisions_is_a_fault() {
    let mut client =
        Stdio::new(Client::new(Instant::ZERO, client::Config::new("c", "1").revisions(&[])));
    assert!(client.outbox().is_empty());
    assert!(matches!(client.close_reason(), Some(CloseReason::Fault(Fault::NoRevisionConfigured))));
}

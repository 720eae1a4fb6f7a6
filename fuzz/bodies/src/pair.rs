//! A client and a server on a link, driven by a script of their applications and the network.

use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use mcp_harness::{Chunking, Pair, Role, Seed};
use mcp_proto::{Endpoint, Side, client, server};

use crate::app::{self, App};

#[derive(Arbitrary, Debug)]
enum Op {
    /// The client's application acts.
    Client(u8, u8),
    /// The server's application acts.
    Server(u8, u8),
    /// Time passes, in powers of two of milliseconds.
    Wait(u8),
    /// Everything possible without time passing happens.
    Step,
    /// Everything in transit arrives.
    Drive,
    /// A stray line reaches the server or the client.
    Stray(bool, u8),
    /// A pipe stalls or continues.
    Stall(bool, bool),
    /// The client's events are left in it, or polled.
    Busy(bool, bool),
    Cut(bool),
}

/// A client and a server that do anything in any order, with stray bytes between them, keep their
/// promises and come to rest.
pub fn pair(data: &[u8]) {
    let mut data = Unstructured::new(data);
    let Ok([client_is, server_is, limits, seed, capacity]) = data.arbitrary::<[u8; 5]>() else {
        return;
    };
    let client = client::Config::new("c", "1")
        .revisions(app::revisions(client_is))
        .limits(app::limits(limits));
    let client =
        app::capabilities(client_is >> 4).iter().fold(client, |config, it| config.capability(*it));
    let server = server::Config::new("s", "1")
        .revisions(app::revisions(server_is))
        .limits(app::limits(limits >> 4));
    let server =
        app::capabilities(server_is >> 4).iter().fold(server, |config, it| config.capability(*it));
    let mut pair = Pair::new(client.serve_method("x/y"), server.serve_method("x/y"));
    if seed != 0 {
        pair.to_client.chunking = Chunking::Seeded(Seed(u64::from(seed)), 64);
        pair.to_server.chunking = Chunking::Bytes(usize::from(seed));
    }
    pair.to_server.capacity = [usize::MAX, 64, 1024][usize::from(capacity) % 3];
    let mut apps = [App::default(), App::default()];
    // Longer scripts find nothing more and take long.
    for _ in 0..64 {
        if data.is_empty() {
            break;
        }
        let Ok(op) = data.arbitrary() else { break };
        perform(&mut pair, &mut apps, &op);
        note(&mut pair, &mut apps);
    }
    pair.to_client.is_stalled = false;
    pair.to_server.is_stalled = false;
    (pair.is_client_busy, pair.is_server_busy) = (false, false);
    // Two peers that ping each other never come to rest by themselves.
    pair.wait(Duration::from_secs(90));
    let now = pair.now;
    pair.client.close(now);
    pair.server.close(now);
    pair.drive_until_quiet();
    for ledger in [pair.client.ledger(), pair.server.ledger()] {
        assert!(ledger.is_closed(), "`Closed` never came");
    }
}

fn perform(pair: &mut Pair, [client, server]: &mut [App; 2], op: &Op) {
    let now = pair.now;
    match *op {
        Op::Client(act, which) => client.act(&mut pair.client, now, act, which),
        Op::Server(act, which) => server.act(&mut pair.server, now, act, which),
        Op::Wait(time) => pair.wait(Duration::from_millis(1 << (time % 20))),
        Op::Step => _ = pair.step(),
        Op::Drive => pair.drive(),
        Op::Stray(to_server, line) => {
            let line = STRAY[usize::from(line) % STRAY.len()];
            // Within a line it would only break that line.
            pair.drive();
            let now = pair.now;
            if to_server && pair.to_server.bytes_in_flight() == 0 && pair.server.wants_input() {
                pair.watch.insert_line(Side::Client, line);
                pair.server.handle_input(now, line);
            } else if !to_server
                && pair.to_client.bytes_in_flight() == 0
                && pair.client.wants_input()
            {
                pair.watch.insert_line(Side::Server, line);
                pair.client.handle_input(now, line);
            }
        }
        Op::Stall(to_server, stalled) => {
            let link = if to_server { &mut pair.to_server } else { &mut pair.to_client };
            link.is_stalled = stalled;
        }
        Op::Busy(client, busy) => {
            *(if client { &mut pair.is_client_busy } else { &mut pair.is_server_busy }) = busy;
        }
        Op::Cut(to_server) => {
            let link = if to_server { &mut pair.to_server } else { &mut pair.to_client };
            link.cut(now);
        }
    }
}

fn note(pair: &mut Pair, [client, server]: &mut [App; 2]) {
    pair.client_events.drain(..).for_each(|event| client.note(&event));
    pair.server_events.drain(..).for_each(|event| server.note(&event));
}

const STRAY: &[&[u8]] = &[
    b"hello\n",
    b"\xff\n",
    b"{}\n",
    b"[]\n",
    b"[{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"},1]\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\",\
        \"requestState\":\"\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,\"message\":\"\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"\"}}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"roots/list\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\
        \"progress\":1}}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n",
];

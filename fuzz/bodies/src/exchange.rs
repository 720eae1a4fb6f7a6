//! A session of a server over HTTP, or a modern exchange, driven by a script of requests, readers,
//! times and responses.

use std::time::Duration;

use mcp_proto::{Instant, Revision};

use crate::served::{OUR, Served};

/// Whatever clients, drivers and applications do, every frame consists of whole events, no request
/// is answered twice, no message is on two streams, the replay buffer is bounded, and the end is
/// quiet.
///
/// The first byte is the revision. Steps of three bytes follow: the action, the exchange or
/// request, and its details.
pub fn exchange(data: &[u8]) {
    let Some((first, mut script)) = data.split_first() else { return };
    let revision = Revision::ALL[usize::from(*first) % Revision::ALL.len()];
    let mut now = Instant::ZERO;
    let mut served = Served::new(now, revision, "s1");
    while let Some(([what, which, how], rest)) = script.split_first_chunk::<3>() {
        script = rest;
        match what % 12 {
            0 | 1 => served.ask(now, *which),
            2 => {
                let (body, rest) = script.split_at(usize::from(*how).min(script.len()));
                script = rest;
                // The ids of `ask` are its own: a message with one of them, even a broken
                // one, would receive a second response.
                if !body.windows(OUR.len()).any(|part| part == OUR.as_bytes()) {
                    served.post(now, which & 1 == 1, body);
                }
            }
            3 => served.get(now, None),
            4 => {
                let id = served.event_id(*which, *how);
                served.get(now, Some(&id));
            }
            5 => served.gone(now, *which),
            6 => served.read(*which, usize::from(how % 4)),
            7 => served.read_all(),
            8 => {
                now += Duration::from_millis(1 << (which % 18));
                served.wait(now);
            }
            9 if *which == 0 => served.http.close(now),
            _ => served.act(now, *which, *how),
        }
    }
    served.look();
    served.check_kept(now);
    served.finish(now);
}

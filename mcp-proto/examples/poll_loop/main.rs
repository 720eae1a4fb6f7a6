//! A daemon with one thread and `poll(2)` that serves several clients over sockets.
//!
//! Run it with `cargo run --example poll_loop -p mcp-proto`. The clients are part of this program
//! and share its event loop, at the other ends of socket pairs: one waits for a timer, one requests
//! more data than it reads in one go, and one times out. `connection.rs` contains the whole driver.

#[cfg(unix)]
mod connection;
#[cfg(unix)]
mod daemon;
#[cfg(unix)]
mod visitor;

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(&mut std::io::stdout().lock())
}

#[cfg(not(unix))]
fn main() -> Result<(), &'static str> {
    Err("this example requires Unix")
}

#[cfg(unix)]
fn run(out: &mut dyn std::io::Write) -> Result<(), Box<dyn std::error::Error>> {
    use std::os::unix::net::UnixStream;

    use connection::wait;
    use daemon::Daemon;
    use visitor::Visitor;

    let epoch = std::time::Instant::now();
    let clock = || mcp_proto::Instant::from_elapsed(epoch.elapsed());
    let mut daemon = Daemon::new()?;
    let mut visitors = Vec::new();
    for plan in visitor::PLANS {
        let (server_end, client_end) = UnixStream::pair()?;
        daemon.accept(clock(), server_end)?;
        visitors.push(Visitor::new(clock(), client_end, plan)?);
    }
    loop {
        let now = clock();
        daemon.process(now, out)?;
        for visitor in &mut visitors {
            visitor.process(now, out)?;
        }
        visitors.retain_mut(|visitor| !visitor.connection.is_over());
        if daemon.is_idle() && visitors.is_empty() {
            return Ok(());
        }
        let deadline = daemon.timer();
        let served = daemon.connections();
        let visiting = visitors.iter_mut().map(|visitor| &mut visitor.connection as _);
        wait(clock, &mut served.chain(visiting).collect::<Vec<_>>(), deadline)?;
    }
}

#[cfg(all(test, unix))]
#[test]
fn one_thread_serves_all_clients() {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in [
        "Ada: the daemon is clock 1.0.0",
        "Ada: \"30 ms have passed\"",
        "Bob: 200 calls, 3276800 bytes",
        "Eve: the call timed out (`CallOptions::timeout`)",
        "daemon: request#",
        "was cancelled: timed out",
        "daemon: closed by the peer",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    // Bob's 3 MiB were never queued together: the daemon stopped reading from him while he did not
    // read. The order of the last lines is random.
    let numbers = |line: &str| -> Vec<usize> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let ends = text.lines().filter(|line| line.contains("bytes queued")).map(numbers);
    let most = ends.max_by_key(|numbers| numbers.get(1).copied()).unwrap_or_default();
    let [queued_max, pauses] = most[..] else { panic!("{text}") };
    assert!(queued_max < 1 << 20 && pauses > 0, "{text}");
}

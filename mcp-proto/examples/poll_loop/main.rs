//! A daemon with one thread and `poll(2)`: it serves several clients at a time over sockets,
//! without any runtime.
//!
//! Run it with `cargo run --example poll_loop -p mcp-proto`. The clients are in the same program
//! and in the same loop, at the other ends of socket pairs: one waits for a timer, one asks for
//! more than it can read at once, and one gives up. `connection.rs` is all that there is of a
//! driver.

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
    Err("socket pairs and poll(2) are Unix's")
}

#[cfg(unix)]
fn run(out: &mut dyn std::io::Write) -> Result<(), Box<dyn std::error::Error>> {
    use std::os::unix::net::UnixStream;

    use connection::{Link, wait};
    use daemon::Daemon;
    use visitor::Visitor;

    let epoch = std::time::Instant::now();
    let clock = || mcp_proto::Instant::from_elapsed(epoch.elapsed());
    let mut daemon = Daemon::new()?;
    let mut visitors = Vec::new();
    for plan in visitor::PLANS {
        let (here, there) = UnixStream::pair()?;
        daemon.accept(clock(), here)?;
        visitors.push(Visitor::new(clock(), there, plan)?);
    }
    loop {
        let now = clock();
        daemon.act(now, out)?;
        for visitor in &mut visitors {
            visitor.act(now, out)?;
        }
        visitors.retain_mut(|visitor| !visitor.connection.is_over());
        if daemon.is_idle() && visitors.is_empty() {
            return Ok(());
        }
        let deadline = daemon.timer();
        let served = daemon.links();
        let visiting = visitors.iter_mut().map(|visitor| &mut visitor.connection as &mut dyn Link);
        wait(clock, &mut served.chain(visiting).collect::<Vec<_>>(), deadline)?;
    }
}

#[cfg(all(test, unix))]
#[test]
fn one_thread_serves_them_all() {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in [
        "Ada: the daemon is clock 1.0.0",
        "Ada: \"30 ms have passed\"",
        "Bob: 200 calls, 3276800 bytes",
        "Eve: the call timed out (`CallOptions::timeout`)",
        "daemon: request#",
        "is not wanted any more: timed out",
        "daemon: closed by the peer",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    // Bob's 3 MiB never waited at once: he was not read from while he did not read. Who hangs up
    // last is chance.
    let numbers = |line: &str| -> Vec<usize> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let ends = text.lines().filter(|line| line.contains("waited at most")).map(numbers);
    let most = ends.max_by_key(|numbers| numbers.get(1).copied()).unwrap_or_default();
    let [waited_max, pauses] = most[..] else { panic!("{text}") };
    assert!(waited_max < 1 << 20 && pauses > 0, "{text}");
}

//! The proxy on pipes: its own stdin and stdout, and those of the server that it starts; one thread
//! and `poll(2)`.
//!
//! Nothing is set not to block, since others may share these pipes: reading waits for `poll` to say
//! that there is something, and no more is written at a time than a pipe that has room takes at
//! once.

use std::error::Error;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant as Clock};

use mcp_proto::stdio::{Ending, Shutdown};
use mcp_proto::{Instant, Limits, Side};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::proxy::Proxy;
use crate::trace::Trace;

/// What a pipe with any room takes at once, by POSIX.
const WRITE_BYTES: usize = 512;

/// Serves a client on `input` and `output` by a server that it starts, until either is gone.
pub(crate) fn serve(
    mut command: Command,
    input: &impl AsFd,
    output: &impl AsFd,
    trace: Box<dyn Write>,
) -> Result<(), Box<dyn Error>> {
    let epoch = Clock::now();
    let clock = || Instant::from_elapsed(epoch.elapsed());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let child_input = child.stdin.take();
    let child_output = child.stdout.take().ok_or("the server has no stdout")?;
    let mut proxy = Proxy::new(Trace::new(trace));
    let mut links = [
        Link { side: Side::Client, from: input.as_fd(), is_ended: false },
        Link { side: Side::Server, from: child_output.as_fd(), is_ended: false },
    ];
    let relayed = relay(&mut proxy, &mut links, output, child_input.as_ref(), clock);
    end(&mut child, child_input, clock)?;
    relayed
}

struct Link<'a> {
    side: Side,
    from: BorrowedFd<'a>,
    is_ended: bool,
}

fn relay(
    proxy: &mut Proxy,
    links: &mut [Link<'_>; 2],
    output: &impl AsFd,
    child_input: Option<&ChildStdin>,
    clock: impl Fn() -> Instant,
) -> Result<(), Box<dyn Error>> {
    let child_input = child_input.ok_or("the server has no stdin")?.as_fd();
    let to = |side| if side == Side::Client { output.as_fd() } else { child_input };
    loop {
        let is_done = |side| proxy.is_closed(side) && !proxy.has_output(side);
        if [Side::Client, Side::Server].into_iter().all(is_done) {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for link in links.iter() {
            if !link.is_ended && proxy.wants_input(link.side) {
                wanted.push((link.side, PollFlags::IN, link.from));
            }
            if proxy.has_output(link.side) {
                wanted.push((link.side, PollFlags::OUT, to(link.side)));
            }
        }
        let mut fds: Vec<PollFd<'_>> =
            wanted.iter().map(|(_, flags, fd)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let timeout = proxy.poll_timeout().map(|deadline| deadline.duration_since(clock()));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let now = clock();
        proxy.handle_timeout(now);
        for ((side, flags, fd), polled) in wanted.iter().zip(&fds) {
            if polled.revents().is_empty() {
                continue;
            }
            let is_alive = if *flags == PollFlags::IN {
                read(proxy, now, *side, *fd)?
            } else {
                write(proxy, *side, *fd)?
            };
            if !is_alive {
                links
                    .iter_mut()
                    .filter(|link| link.side == *side)
                    .for_each(|link| link.is_ended = true);
                proxy.handle_eof(now, *side);
            }
        }
    }
}

/// Whether more can come.
fn read(proxy: &mut Proxy, now: Instant, side: Side, from: BorrowedFd<'_>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    match rustix::io::read(from, &mut buffer) {
        Ok(0) => return Ok(false),
        Ok(count) => proxy.handle_input(now, side, &buffer[..count]),
        Err(Errno::INTR | Errno::AGAIN) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

/// Whether more can be sent.
fn write(proxy: &mut Proxy, side: Side, to: BorrowedFd<'_>) -> io::Result<bool> {
    let mut is_alive = true;
    proxy.send(side, |bytes| {
        match rustix::io::write(to, &bytes[..bytes.len().min(WRITE_BYTES)]) {
            Ok(count) => Ok(count),
            Err(Errno::INTR | Errno::AGAIN) => Ok(0),
            // Nobody reads it: it is as good as sent.
            Err(Errno::PIPE) => {
                is_alive = false;
                Ok(bytes.len())
            }
            Err(error) => Err(error.into()),
        }
    })?;
    Ok(is_alive)
}

/// Ends the server by the steps that the protocol has for it.
fn end(
    child: &mut Child,
    child_input: Option<ChildStdin>,
    clock: impl Fn() -> Instant,
) -> io::Result<()> {
    let mut child_input = child_input;
    let mut shutdown = Shutdown::new(clock(), &Limits::default());
    while child.try_wait()?.is_none() {
        match shutdown.poll_step() {
            Some(Ending::CloseInput) => drop(child_input.take()),
            // It may have exited since; it is not waited for yet, so that its number is nobody
            // else's.
            Some(Ending::Terminate) => drop(kill_process(Pid::from_child(child), Signal::TERM)),
            Some(Ending::Kill) => child.kill()?,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        shutdown.handle_timeout(clock());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    /// A server of the old era in shell: it counts on the ids that the proxy gives.
    const SERVER: &str = r#"
        while read -r line; do case "$line" in
            *server/discover*) echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}' ;;
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
            *tools/call*) echo '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}]}}' ;;
        esac; done"#;

    #[test]
    fn a_server_in_another_process_is_proxied() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let proxy = std::thread::spawn(move || {
            let mut command = Command::new("sh");
            command.args(["-c", SERVER]);
            super::serve(command, &theirs, &theirs, Box::new(std::io::sink()))
                .map_err(|error| error.to_string())
        });
        let request = r#"{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"x","_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        writeln!(&ours, "{}", request.replace('\n', "")).unwrap();
        let mut answer = String::new();
        BufReader::new(&ours).read_line(&mut answer).unwrap();
        assert!(
            answer.starts_with(
                r#"{"jsonrpc":"2.0","id":"mine","result":{"content":[{"type":"text","text":"done"}]"#
            ),
            "{answer}"
        );
        ours.shutdown(Shutdown::Write).unwrap();
        proxy.join().unwrap().unwrap();
    }
}

//! The driver: the proxy's own stdin and stdout and the pipes of the server it starts, on one
//! thread with `poll(2)`.
//!
//! The pipes stay in blocking mode because other processes may share them. The driver reads only
//! when `poll` reports input, and writes at most as many bytes as a writable pipe accepts without
//! blocking.

use std::error::Error;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant as Clock};

use mcp_proto::stdio::{Shutdown, ShutdownStep};
use mcp_proto::{Instant, Limits, Side};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::proxy::Proxy;
use crate::trace::Trace;

/// The number of bytes a writable pipe accepts without blocking: POSIX guarantees 512.
const WRITE_BYTES: usize = 512;

/// Starts a server and relays between it and a client on `input` and `output`, until both sides are
/// closed.
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
    let child_output = child.stdout.take().ok_or("the server process has no stdout")?;
    let mut proxy = Proxy::new(Trace::new(trace));
    let mut sources = [
        Source { side: Side::Client, from: input.as_fd(), is_ended: false },
        Source { side: Side::Server, from: child_output.as_fd(), is_ended: false },
    ];
    let relayed = relay(&mut proxy, &mut sources, output, child_input.as_ref(), clock);
    end(&mut child, child_input, clock)?;
    relayed
}

/// The input from one side.
struct Source<'a> {
    side: Side,
    from: BorrowedFd<'a>,
    is_ended: bool,
}

fn relay(
    proxy: &mut Proxy,
    sources: &mut [Source<'_>; 2],
    output: &impl AsFd,
    child_input: Option<&ChildStdin>,
    clock: impl Fn() -> Instant,
) -> Result<(), Box<dyn Error>> {
    let child_input = child_input.ok_or("the server process has no stdin")?.as_fd();
    let to = |side| if side == Side::Client { output.as_fd() } else { child_input };
    loop {
        let is_done = |side| proxy.is_closed(side) && !proxy.has_output(side);
        if [Side::Client, Side::Server].into_iter().all(is_done) {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for source in sources.iter() {
            if !source.is_ended && proxy.wants_input(source.side) {
                wanted.push((source.side, PollFlags::IN, source.from));
            }
            if proxy.has_output(source.side) {
                wanted.push((source.side, PollFlags::OUT, to(source.side)));
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
            let is_open = if *flags == PollFlags::IN {
                read(proxy, now, *side, *fd)?
            } else {
                write(proxy, *side, *fd)?
            };
            if !is_open {
                sources
                    .iter_mut()
                    .filter(|source| source.side == *side)
                    .for_each(|source| source.is_ended = true);
                proxy.handle_eof(now, *side);
            }
        }
    }
}

/// Reads once. Returns false at the end of the input.
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

/// Writes once. Returns false if the reader is gone.
fn write(proxy: &mut Proxy, side: Side, to: BorrowedFd<'_>) -> io::Result<bool> {
    let mut is_open = true;
    proxy.send(side, |bytes| {
        match rustix::io::write(to, &bytes[..bytes.len().min(WRITE_BYTES)]) {
            Ok(count) => Ok(count),
            Err(Errno::INTR | Errno::AGAIN) => Ok(0),
            // The reader is gone: discard the output.
            Err(Errno::PIPE) => {
                is_open = false;
                Ok(bytes.len())
            }
            Err(error) => Err(error.into()),
        }
    })?;
    Ok(is_open)
}

/// Stops the server in the steps that the protocol prescribes.
fn end(
    child: &mut Child,
    child_input: Option<ChildStdin>,
    clock: impl Fn() -> Instant,
) -> io::Result<()> {
    let mut child_input = child_input;
    let mut shutdown = Shutdown::new(clock(), &Limits::default());
    while child.try_wait()?.is_none() {
        match shutdown.poll_step() {
            Some(ShutdownStep::CloseInput) => drop(child_input.take()),
            // Safe even if the process has exited: it is not yet reaped, so its id is not reused.
            Some(ShutdownStep::Terminate) => {
                let _already_gone = kill_process(Pid::from_child(child), Signal::TERM);
            }
            Some(ShutdownStep::Kill) => child.kill()?,
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

    /// A legacy server as a shell script. It relies on the request ids that the proxy chooses.
    const SERVER: &str = r#"
        while read -r line; do
            case "$line" in
                *server/discover*)
                    id=1 body='"error":{"code":-32601,"message":"unknown"}' ;;
                *'"initialize"'*)
                    body='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},'
                    id=2 body="$body"'"serverInfo":{"name":"sh","version":"1"}}' ;;
                *tools/call*)
                    id=3 body='"result":{"content":[{"type":"text","text":"done"}]}' ;;
                *) continue ;;
            esac
            echo '{"jsonrpc":"2.0","id":'"$id,$body}"
        done"#;

    #[test]
    fn the_proxy_relays_to_a_server_in_another_process() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let proxy = std::thread::spawn(move || {
            let mut command = Command::new("sh");
            command.args(["-c", SERVER]);
            super::serve(command, &theirs, &theirs, Box::new(std::io::sink()))
                .map_err(|error| error.to_string())
        });
        let request = r#"{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{
            "name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        writeln!(&ours, "{}", request.replace('\n', "")).unwrap();
        let mut response = String::new();
        BufReader::new(&ours).read_line(&mut response).unwrap();
        let expected =
            r#"{"jsonrpc":"2.0","id":"mine","result":{"content":[{"type":"text","text":"done"}]"#;
        assert!(response.starts_with(expected), "{response}");
        ours.shutdown(Shutdown::Write).unwrap();
        proxy.join().unwrap().unwrap();
    }
}

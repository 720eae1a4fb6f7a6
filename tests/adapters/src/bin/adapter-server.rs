//! A server on stdin and stdout, on the runtime named by its first argument, for tests that need a
//! process. The second argument, if any, is the size of its pipes in bytes. Environment variables:
//!
//! - `EOF_DRAIN_MS` is `Limits::eof_drain_timeout` in milliseconds.
//! - `STDIN=kept` and `STDOUT=kept` turn the redirection of a stream off.
//! - `PARENT=outlived` makes the server outlive its parent process.
//! - `FAREWELL` is printed once the server has ended, without a newline.
//! - `CLEANED_UP` is the path of a file that is created once the server has ended.
//! - `SIGINT=own` makes the program handle SIGINT itself, on Unix.
//! - `SIGTERM=raced` makes the program serve until it has received SIGTERM itself, on Unix.
//! - `ALIVE` is a socket address. The server and the process that its tool `start` starts connect
//!   to it and keep the connection until they end.
//! - `NEXT=line` makes the program print the next line of stdin once the server has ended.

#![allow(clippy::print_stdout, reason = "prints are what tests look for")]

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcp_adapter::proto::Limits;
use mcp_adapter::proto::schema::Level;
use mcp_adapter::{Cx, HandlerError, Server, StdioSettings, Tool};

use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads, full_server, tool};

fn serve<R: Runtime>() -> io::Result<()> {
    let server = limited_server()?
        .add(Tool::define(tool("print"), async || print()))
        .add(Tool::define(tool("print_plain"), print))
        .add(Tool::define(tool("print_in_child"), print_in_child))
        .add(Tool::define(tool("read_in_child"), |cx: Cx| read_in_child(&cx)))
        .add(Tool::define(tool("start"), start));
    let mut stdio = StdioSettings::new();
    if let Some(bytes) = std::env::args().nth(2) {
        stdio = stdio.pipe_bytes(bytes.parse().map_err(io::Error::other)?);
    }
    if is_set("STDIN", "kept") {
        stdio = stdio.keep_stdin();
    }
    if is_set("STDOUT", "kept") {
        stdio = stdio.keep_stdout();
    }
    if is_set("PARENT", "outlived") {
        stdio = stdio.outlive_parent();
    }
    let server = server.stdio(stdio);
    #[cfg(unix)]
    let signals = is_set("SIGINT", "own").then(handle_interrupt).transpose()?;
    #[cfg(unix)]
    let terminated = is_set("SIGTERM", "raced").then(until_terminated).transpose()?;
    #[cfg(not(unix))]
    let terminated: Option<((), std::future::Pending<io::Result<()>>)> = None;
    match terminated {
        Some((_runtime, terminated)) => {
            R::block_on(smol::future::or(terminated, R::serve_stdio(server)))?;
        }
        None => R::block_on(R::serve_stdio(server))?,
    }
    #[cfg(unix)]
    drop(signals);
    if let Ok(path) = std::env::var("CLEANED_UP") {
        std::fs::write(path, "")?;
    }
    if is_set("NEXT", "line") {
        println!("next: {}", io::stdin().lines().next().transpose()?.unwrap_or_default());
    }
    print!("{}", std::env::var("FAREWELL").unwrap_or_default());
    Ok(())
}

#[cfg(unix)]
/// Handles SIGINT, as a program does that uses it for its own purposes. Such a program keeps
/// the default action of SIGTERM on runtimes that do not receive signals.
fn handle_interrupt() -> io::Result<(tokio::runtime::Runtime, tokio::signal::unix::Signal)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let interrupts = {
        let _entered = runtime.enter();
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?
    };
    Ok((runtime, interrupts))
}

/// Returns a future that ends once the process has received SIGTERM, and what it needs.
#[cfg(unix)]
fn until_terminated() -> io::Result<(tokio::runtime::Runtime, impl Future<Output = io::Result<()>>)>
{
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut terminations = {
        let _entered = runtime.enter();
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?
    };
    let (done, awaited) = tokio::sync::oneshot::channel();
    let _detached = runtime.spawn(async move { done.send(terminations.recv().await) });
    let terminated = async { awaited.await.map(drop).map_err(io::Error::other) };
    Ok((runtime, terminated))
}

fn is_set(name: &str, value: &str) -> bool {
    std::env::var(name).is_ok_and(|set| set == value)
}

fn limited_server() -> io::Result<Server> {
    let Ok(millis) = std::env::var("EOF_DRAIN_MS") else { return Ok(full_server()) };
    let eof_drain_timeout = Duration::from_millis(millis.parse().map_err(io::Error::other)?);
    Ok(full_server().limits(Limits { eof_drain_timeout, ..Limits::default() }))
}

/// Prints what would be a message to the client.
fn print() -> Result<String, HandlerError> {
    println!(r#"{{"jsonrpc":"2.0","method":"notifications/forged"}}"#);
    print!("the end of a handler");
    Ok("printed".to_owned())
}

/// Prints from a process that inherits stdout.
fn print_in_child() -> Result<String, HandlerError> {
    let mut command = Command::new(std::env::current_exe()?);
    let status = command.arg("print").env_remove("ALIVE").stdin(Stdio::null()).status()?;
    Ok(status.to_string())
}

/// Reads the inherited stdin in another process, logs the name of that stdin once reading has
/// begun, and returns what the process has read.
fn read_in_child(cx: &Cx) -> Result<String, HandlerError> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg("read").env_remove("ALIVE").stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or("no pipe")?;
    let mut lines = io::BufReader::new(stdout).lines();
    cx.log(Level::Error, &lines.next().transpose()?.unwrap_or_default()).wait()?;
    let read = lines.collect::<io::Result<Vec<String>>>()?;
    child.wait()?;
    Ok(read.join("\n"))
}

/// Prints the name of stdin, where the system has one, and then what arrives there for some time,
/// which is longer than a client needs to send requests.
fn read() -> io::Result<()> {
    let name = std::fs::read_link("/proc/self/fd/0").unwrap_or_default();
    println!("{}", name.display());
    let began = Instant::now();
    std::thread::spawn(|| -> io::Result<()> {
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = String::new();
            match stdin.read_line(&mut line)? {
                0 => std::thread::sleep(Duration::from_millis(1)),
                _ => print!("{line}"),
            }
        }
    });
    while began.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    io::stdout().flush()
}

/// Starts a process that keeps running, and returns its id.
fn start() -> Result<String, HandlerError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("sleep").stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.spawn()?.id().to_string())
}

fn main() -> io::Result<()> {
    let address = std::env::var("ALIVE").ok();
    let _alive = address.map(std::net::TcpStream::connect).transpose()?;
    match std::env::args().nth(1).as_deref() {
        Some(Blocking::NAME) => serve::<Blocking>(),
        Some(Smol::NAME) => serve::<Smol>(),
        Some(Tokio::NAME) => serve::<Tokio>(),
        Some(TokioThreads::NAME) => serve::<TokioThreads>(),
        Some("print") => print().map(drop).map_err(|_| io::Error::other("cannot print")),
        Some("read") => read(),
        Some("sleep") => {
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        }
        _ => Err(io::Error::other("on which runtime?")),
    }
}

//! Measures how long requests wait while one client keeps handlers busy, over HTTP, on each
//! runtime: `interference [SECONDS [RUNTIME]]`.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a tool prints, and may panic")]

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use mcp_blocking::http::{Http, Remote, Stop};
use mcp_blocking::proto::{Raw, Revision};
use mcp_blocking::{Client, Connection, Cx, Server, Tool, on_runtime};
use mcp_smol::Smol;
use mcp_tokio::Tokio;

/// What the first client does.
#[derive(Clone, Copy)]
enum Load {
    /// Nothing.
    Idle,
    /// 100 calls of a handler that computes for 100 ms.
    Computes,
    /// 1,000 calls of a handler that sleeps for a minute.
    Sleeps,
    /// 100 calls of a handler that proved quick and then blocks for 100 ms.
    Turns,
}

impl Load {
    const ALL: [(Self, &str); 4] = [
        (Self::Idle, "nothing"),
        (Self::Computes, "100 × 100 ms of computing"),
        (Self::Sleeps, "1,000 × a minute of sleep"),
        (Self::Turns, "100 × 100 ms, quick before"),
    ];

    const fn calls(self) -> (usize, &'static str, &'static str) {
        match self {
            Self::Idle => (0, "", ""),
            Self::Computes => (100, "compute", r#"{"ms":100}"#),
            Self::Sleeps => (1000, "sleep", r#"{"ms":60000}"#),
            Self::Turns => (100, "block", r#"{"ms":100}"#),
        }
    }
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3.0);
    println!("## Requests beside busy handlers\n");
    println!(
        "Over HTTP, each client in a session (2025-11-25): the time of an echo of another client, \
         and of an echo and a ping of the client that keeps plain handlers of the server busy. \
         Client and server share the process and its cores. The last column is the time until the \
         threads of the handlers have ended, once the client has cancelled its calls.\n"
    );
    println!(
        "| runtime | the busy client calls | other echo p50 | p99 | max | own echo p99 | max | own \
         ping p99 | max | threads gone |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let only = std::env::args().nth(2);
    for runtime in ["tokio", "smol", "blocking"] {
        if only.as_ref().is_some_and(|only| only != runtime) {
            continue;
        }
        for (load, name) in Load::ALL {
            let times = measure(runtime, load, seconds);
            let [other, echo, ping] = times.waits;
            println!(
                "| {runtime} | {name} | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} ms | {:.2} ms | \
                 {:.2} ms | {:.2} ms | {} |",
                other[0],
                other[1],
                other[2],
                echo[1],
                echo[2],
                ping[1],
                ping[2],
                times.threads_gone
            );
        }
    }
    // A handler that still sleeps need not end first.
    std::process::exit(0);
}

struct Times {
    /// The other client's echo, the busy client's echo and its ping.
    waits: [[f64; 3]; 3],
    threads_gone: String,
}

fn measure(runtime: &'static str, load: Load, seconds: f64) -> Times {
    let address = start(runtime);
    let (busy, other) = (connect(&address), connect(&address));
    let text = Raw::from_text(r#"{"text":"x"}"#).expect("it is JSON");
    let echo = |client: &Connection| {
        timed(|| {
            client.call_tool("echo", &text).wait().expect("it answers");
        })
    };
    echo(&busy);
    echo(&other);
    let threads = count_threads();
    if matches!(load, Load::Turns) {
        let quick = Raw::from_text(r#"{"ms":0}"#).expect("it is JSON");
        for _ in 0..100 {
            busy.call_tool("block", &quick).wait().expect("it answers");
        }
    }
    let (count, tool, arguments) = load.calls();
    let arguments = Raw::from_text(if count == 0 { "{}" } else { arguments }).expect("it is JSON");
    let open: Vec<_> = (0..count)
        .map(|_| busy.call_tool(tool, &arguments).start().wait().expect("it starts"))
        .collect();
    let mut waits = [const { Vec::new() }; 3];
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < seconds {
        waits[0].push(echo(&other));
        waits[1].push(echo(&busy));
        waits[2].push(timed(|| busy.ping().wait().expect("it answers")));
        thread::sleep(Duration::from_millis(1));
    }
    let begin = Instant::now();
    for call in open {
        call.cancel("measured");
    }
    Times { waits: waits.map(quantiles), threads_gone: await_threads(threads, begin) }
}

/// Waits until the process has no more threads than `most`, for a minute at most.
fn await_threads(most: usize, begin: Instant) -> String {
    while count_threads() > most {
        if begin.elapsed() > Duration::from_secs(60) {
            return format!("{} left", count_threads() - most);
        }
        thread::sleep(Duration::from_millis(5));
    }
    format!("{:.2} s", begin.elapsed().as_secs_f64())
}

fn count_threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

fn timed(run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    begin.elapsed().as_secs_f64() * 1e3
}

/// Returns the median, the 99th percentile and the maximum.
fn quantiles(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [0.5, 0.99, 1.0].map(|part| {
        let index = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
        times.get(index).copied().unwrap_or_default()
    })
}

fn connect(address: &str) -> Connection {
    // So that the calls wait at the server, and not at the client for a connection.
    let remote = Remote::new(address).expect("a URL").concurrent_calls_max(2_000);
    let client = Client::new("client", "1").revisions(&[Revision::V2025_11_25]);
    client.connect_http(remote).wait().expect("it listens")
}

/// Starts a server in this process and returns its URL.
fn start(runtime: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    let serve = move || match runtime {
        "blocking" => server().serve_http(listener, Http::new(), &Stop::new()).wait(),
        "smol" => {
            let server = on_runtime::server::<_, Smol>(server());
            smol::block_on(server.serve_http(listener, Http::new(), &Stop::new()))
        }
        _ => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            listener.set_nonblocking(true)?;
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                let server = on_runtime::server::<_, Tokio>(server());
                server.serve_http(listener, Http::new(), &Stop::new()).await
            })
        }
    };
    thread::spawn(move || serve().expect("it serves"));
    address
}

fn server() -> Server {
    let schema = Raw::from_text(r#"{"type":"object"}"#).expect("it is JSON");
    let ms = |arguments: &Raw| {
        let ms = arguments.member("ms").and_then(|ms| ms.parse().ok()).unwrap_or(0);
        Duration::from_millis(ms)
    };
    Server::new("server", "1")
        .add(Tool::new("echo", || "x").description("Returns a text").input_schema(schema.clone()))
        .add(
            Tool::new("sleep", move |arguments: Raw, cx: Cx| {
                let _cancelled = cx.sleep(ms(&arguments)).wait();
                "slept"
            })
            .description("Sleeps")
            .input_schema(schema.clone()),
        )
        .add(
            Tool::new("block", move |arguments: Raw| {
                thread::sleep(ms(&arguments));
                "blocked"
            })
            .description("Blocks")
            .input_schema(schema.clone()),
        )
        .add(
            Tool::new("compute", move |arguments: Raw| {
                let end = Instant::now() + ms(&arguments);
                let mut sum = 0_u64;
                while Instant::now() < end {
                    sum = sum.wrapping_mul(31).wrapping_add(7);
                }
                sum.to_string()
            })
            .description("Computes")
            .input_schema(schema),
        )
}

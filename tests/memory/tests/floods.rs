//! Floods of every kind of input, with default limits and with small ones: no connection ever holds
//! more than `Limits::memory_max`.
//!
//! `cargo test --release -p mcp-memory-tests -- --ignored --nocapture` floods with a million lines
//! and prints the table.

mod floods {
    pub mod at_client;
    pub mod at_server;
    pub mod driver;
}

use floods::driver::Report;
use floods::{at_client, at_server};
use mcp_proto::Limits;
use std::time::Duration;

#[global_allocator]
static COUNTING: mcp_memory_tests::Counting = mcp_memory_tests::Counting;

/// Returns limits so small that every bound is reached soon.
fn small() -> Limits {
    Limits {
        message_bytes_max: 16 << 10,
        id_bytes_max: 64,
        calls_max: 64,
        calls_bytes_max: 64 << 10,
        retired_calls_max: 16,
        requests_max: 64,
        requests_bytes_max: 64 << 10,
        batch_members_max: 16,
        events_max: 64,
        events_bytes_max: 64 << 10,
        outbox_bytes_max: 16 << 10,
        replies_bytes_max: 64 << 10,
        input_requests_max: 4,
        subscriptions_max: 8,
        subscription_uris_max: 16,
        subscriptions_bytes_max: 4 << 10,
        peer_bytes_max: 16 << 10,
        cache_bytes_max: 64 << 10,
        ping_every: Some(Duration::from_secs(5)),
        ..Limits::default()
    }
}

/// Returns limits for many small items, which expose an item whose size is not counted.
fn many() -> Limits {
    Limits {
        message_bytes_max: 256 << 10,
        calls_bytes_max: 256 << 10,
        requests_bytes_max: 256 << 10,
        events_bytes_max: 256 << 10,
        outbox_bytes_max: 64 << 10,
        replies_bytes_max: 256 << 10,
        subscriptions_max: 32,
        subscription_uris_max: 32,
        subscriptions_bytes_max: 64 << 10,
        peer_bytes_max: 64 << 10,
        cache_bytes_max: 256 << 10,
        ..Limits::default()
    }
}

/// Returns the default limits, with a cache.
fn usual() -> Limits {
    Limits { cache_bytes_max: 8 << 20, ..Limits::default() }
}

fn flood(name: &str, limits: &Limits, lines: u64, bytes: u64) -> Report {
    let mut report = Report::new(limits, lines, bytes);
    at_server::all(&mut report);
    at_client::all(&mut report);
    println!("{name} limits, up to {lines} lines:\n{report}");
    report.assert_below(limits.memory_max());
    report
}

#[test]
fn small_limits_are_kept() {
    flood("small", &small(), 40_000, 4 << 20);
}

#[test]
fn the_limits_of_devices_are_kept() {
    flood("device", &Limits::small(), 20_000, 1 << 20);
}

#[test]
fn every_item_is_counted() {
    // The limits in bytes add up to less than 2 MiB and items are small, so a leak would show.
    flood("many small", &many(), 4_000, 16 << 20).assert_below(6 << 20);
}

#[test]
fn the_usual_limits_are_kept() {
    flood("usual", &usual(), 40_000, 32 << 20);
}

#[test]
#[ignore = "takes minutes, and a gigabyte: `.ci/full long_tests`"]
fn small_limits_are_kept_in_a_million_lines() {
    flood("small", &small(), 1_000_000, 64 << 20);
}

#[test]
#[ignore = "takes minutes, and a gigabyte: `.ci/full long_tests`"]
fn the_usual_limits_are_kept_in_a_million_lines() {
    flood("usual", &usual(), 1_000_000, 4 << 30);
}

/// A long list of small values takes many times its text when decoded, so it must be refused first.
#[test]
fn a_long_client_description_is_not_decoded() {
    let mut report = Report::new(&usual(), 1, 0);
    at_server::long_description(&mut report, 14 << 20);
    println!("{report}");
    report.assert_below(48 << 20);
}

#[test]
fn the_counter_can_fail() {
    mcp_memory_tests::restart();
    let held = mcp_memory_tests::counted(|| vec![0_u8; 5_000]);
    assert!(mcp_memory_tests::live() >= 5_000 && mcp_memory_tests::peak() >= 5_000);
    mcp_memory_tests::counted(|| drop(held));
    assert!(mcp_memory_tests::live() < 5_000);
    let nothing = Limits { message_bytes_max: 0, events_max: 0, ..small() };
    assert!(
        nothing.memory_max() < small().memory_max()
            && small().memory_max() < usual().memory_max() / 20
    );
}

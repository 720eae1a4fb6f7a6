//! Recognizes hosts that lead to this machine.

use std::net::IpAddr;

/// Returns whether a host name or address always leads to this machine.
pub(super) fn is_this_machine(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = host.trim_end_matches('.');
    name == "localhost"
        || name.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

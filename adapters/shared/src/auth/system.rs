//! Randomness and the wall clock for authorization.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns 32 random bytes of the operating system.
///
/// # Errors
/// Fails if the operating system returns none. Nothing replaces them.
pub fn random_bytes() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Returns the seconds since 1970 by the wall clock; zero if it shows an earlier time.
///
/// Tokens expire by wall time: a monotonic clock may pause while the machine sleeps.
// The wall clock can be set, so deadlines use the monotonic one.
#[must_use]
pub fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::{random_bytes, unix_time};

    #[test]
    fn random_bytes_differ_and_time_is_recent() {
        assert_ne!(random_bytes().unwrap(), random_bytes().unwrap());
        assert!((1_700_000_000..9_999_999_999).contains(&unix_time()));
    }
}

//! Limits per client address and per principal.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The address of the client that sent a request, as a request extension.
///
/// A server that was started with `serve_http` adds this extension to each request. In front of an
/// [`HttpService`](super::super::HttpService), a router can add the extension with
/// `request.extensions_mut().insert(PeerAddress(ip))`. A request without this extension is not
/// subject to [`sessions_per_address_max`], [`listeners_per_address_max`] and
/// [`requests_bytes_per_address_max`].
///
/// Tasks of clients without authentication count for the address, too ([`TaskLimits`]). Without
/// this extension, they count for the session; all requests without a session then share one limit,
/// and their results that were not retrieved make room for each other.
///
/// [`TaskLimits`]: mcp_proto::tasks::TaskLimits::tasks_per_principal_max
/// [`listeners_per_address_max`]: super::super::HttpLimits::listeners_per_address_max
/// [`sessions_per_address_max`]: super::super::HttpLimits::sessions_per_address_max
/// [`requests_bytes_per_address_max`]: super::super::HttpLimits::requests_bytes_per_address_max
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PeerAddress(
    /// The IP address of the client, or of a proxy in front of the client.
    pub IpAddr,
);

impl PeerAddress {
    /// Returns the first address of the network that counts as one client: a single IPv4 address,
    /// an IPv6 network of 64 bits, which a single client usually owns, or all loopback addresses.
    pub(in crate::http) fn network(self) -> IpAddr {
        let address = self.0.to_canonical();
        match address {
            _ if address.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)))
            }
            IpAddr::V4(_) => address,
        }
    }

    /// Returns a number that distinguishes most clients, for fair turns among them.
    pub(in crate::http) fn lane(self) -> usize {
        match self.network() {
            IpAddr::V4(address) => address.to_bits() as usize,
            IpAddr::V6(address) => (address.to_bits() >> 64) as usize,
        }
    }
}

/// The number of owners up to which those that hold nothing are remembered.
const IDLE_OWNERS_MAX: usize = 16;

/// The number of things, such as sessions, that each owner holds.
#[derive(Debug)]
pub(in crate::http) struct Counts<K: Ord> {
    counts: Mutex<BTreeMap<K, usize>>,
}

/// Counts by client address.
pub(in crate::http) type AddressCounts = Counts<IpAddr>;

/// The share of a limit that one request, session or connection of a client address uses.
pub(in crate::http) type AddressShare = Share<IpAddr>;

impl<K: Ord> Default for Counts<K> {
    fn default() -> Self {
        Self { counts: Mutex::default() }
    }
}

impl<K: Ord + Clone> Counts<K> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place of an owner; `None` if the owner holds `max` places.
    ///
    /// An unknown owner always gets a place.
    pub(in crate::http) fn take(
        self: &Arc<Self>,
        owner: Option<K>,
        max: usize,
    ) -> Option<Share<K>> {
        let mut share = self.share(owner);
        share.try_add(1, max).then_some(share)
    }

    /// Returns an empty share of an owner.
    pub(in crate::http) fn share(self: &Arc<Self>, owner: Option<K>) -> Share<K> {
        Share { counts: Arc::clone(self), owner, count: 0 }
    }
}

/// The share of a limit that one object of an owner uses; released when dropped.
#[derive(Debug)]
pub(in crate::http) struct Share<K: Ord + Clone> {
    counts: Arc<Counts<K>>,
    owner: Option<K>,
    count: usize,
}

impl<K: Ord + Clone> Share<K> {
    /// Adds to the share if the owner then holds at most `max`; returns whether it did.
    ///
    /// The share of an unknown owner is not limited.
    pub(in crate::http) fn try_add(&mut self, count: usize, max: usize) -> bool {
        let Some(owner) = &self.owner else { return true };
        let mut counts = self.counts.lock();
        match counts.get_mut(owner) {
            Some(held) if held.saturating_add(count) <= max => *held += count,
            None if count <= max => drop(counts.insert(owner.clone(), count)),
            Some(_) | None => return false,
        }
        self.count += count;
        true
    }

    /// Returns what the share counts.
    pub(in crate::http) const fn count(&self) -> usize {
        self.count
    }

    /// Gives back what the share counts beyond `max`.
    pub(in crate::http) fn shrink_to(&mut self, max: usize) {
        let Some(owner) = self.owner.as_ref().filter(|_| self.count > max) else { return };
        let mut counts = self.counts.lock();
        if let Some(held) = counts.get_mut(owner) {
            *held -= self.count - max;
            // Most owners return immediately.
            if *held == 0 && counts.len() > IDLE_OWNERS_MAX {
                counts.remove(owner);
            }
        }
        self.count = max;
    }

    /// Adds the share to that of its owner.
    pub(in crate::http) fn merge_into(mut self, shares: &mut Vec<Self>) {
        match shares.iter_mut().find(|share| share.owner == self.owner) {
            Some(share) => share.count += std::mem::take(&mut self.count),
            None => shares.push(self),
        }
    }
}

impl<K: Ord + Clone> Drop for Share<K> {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(PeerAddress(text.parse().unwrap()).network())
    }

    /// Returns what all addresses hold.
    fn held(counts: &AddressCounts) -> usize {
        counts.lock().values().sum()
    }

    #[test]
    fn places_are_limited_per_address_and_given_back() {
        let counts = Arc::new(AddressCounts::default());
        let first = counts.take(address("10.0.0.1"), 2).unwrap();
        let _second = counts.take(address("10.0.0.1"), 2).unwrap();
        assert!(counts.take(address("10.0.0.1"), 2).is_none());
        assert!(counts.take(address("10.0.0.2"), 2).is_some());
        drop(first);
        assert!(counts.take(address("10.0.0.1"), 2).is_some());
    }

    #[test]
    fn few_addresses_without_places_are_remembered() {
        let counts = Arc::new(AddressCounts::default());
        let all = |_| {
            let place = |host| counts.take(address(&format!("10.0.0.{host}")), 1).unwrap();
            (0..100).map(place).collect::<Vec<_>>()
        };
        for places in (0..3).map(all) {
            assert_eq!(counts.lock().len(), 100);
            drop(places);
            assert_eq!(counts.lock().len(), IDLE_OWNERS_MAX);
        }
        assert_eq!(held(&counts), 0);
    }

    #[test]
    fn a_share_grows_up_to_the_limit_of_its_address() {
        let counts = Arc::new(AddressCounts::default());
        let (mut one, mut two) =
            (counts.share(address("10.0.0.1")), counts.share(address("10.0.0.1")));
        assert!(one.try_add(60, 100) && two.try_add(40, 100));
        assert!(!two.try_add(1, 100));
        assert!(counts.share(address("10.0.0.2")).try_add(100, 100));
        drop(one);
        assert!(two.try_add(60, 100));
        drop(two);
        assert_eq!(held(&counts), 0);
    }

    #[test]
    fn shares_of_one_address_merge_and_shrink() {
        let counts = Arc::new(AddressCounts::default());
        let share = |text, count| {
            let mut share = counts.share(address(text));
            assert!(share.try_add(count, 100));
            share
        };
        let mut shares = Vec::new();
        share("10.0.0.1", 60).merge_into(&mut shares);
        share("10.0.0.2", 40).merge_into(&mut shares);
        share("10.0.0.1", 40).merge_into(&mut shares);
        let merged: Vec<usize> = shares.iter().map(Share::count).collect();
        assert_eq!(merged, [100, 40]);
        let mut kept = shares.remove(0);
        drop(shares);
        assert!(!counts.share(address("10.0.0.1")).try_add(1, 100));
        kept.shrink_to(200);
        kept.shrink_to(30);
        assert_eq!(kept.count(), 30);
        assert!(counts.share(address("10.0.0.1")).try_add(70, 100));
        kept.shrink_to(0);
        assert_eq!(held(&counts), 0);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let counts = Arc::new(AddressCounts::default());
        let _first = counts.take(address("2001:db8::1"), 1).unwrap();
        assert!(counts.take(address("2001:db8::ffff:1"), 1).is_none());
        assert!(counts.take(address("2001:db8:0:1::1"), 1).is_some());
        let _mapped = counts.take(address("::ffff:10.0.0.1"), 1).unwrap();
        assert!(counts.take(address("10.0.0.1"), 1).is_none());
        assert!(counts.take(address("10.0.0.2"), 1).is_some());
    }

    #[test]
    fn this_machine_counts_as_one_address() {
        let counts = Arc::new(AddressCounts::default());
        let _first = counts.take(address("127.0.0.1"), 1).unwrap();
        for other in
            ["127.0.0.1", "127.0.0.2", "127.255.1.7", "::1", "::ffff:127.0.0.9", "::ffff:127.1.0.1"]
        {
            assert!(counts.take(address(other), 1).is_none(), "{other}");
        }
        for other in ["126.0.0.1", "128.0.0.1", "::2", "::"] {
            assert!(counts.take(address(other), 9).is_some(), "{other}");
        }
    }

    #[test]
    fn an_unknown_address_is_not_limited() {
        let counts = Arc::new(AddressCounts::default());
        assert!(counts.take(None, 0).is_some());
    }
}

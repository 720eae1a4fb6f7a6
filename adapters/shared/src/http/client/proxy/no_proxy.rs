//! [`NoProxy`]: the hosts that are connected to without a proxy.

use std::net::IpAddr;

/// The hosts that are connected to without a proxy, as `NO_PROXY` lists them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct NoProxy(Vec<Entry>);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Entry {
    All,
    /// A domain, in lower case, with its subdomains.
    Domain(Box<str>),
    /// The addresses whose first bits are those of this one.
    Network(IpAddr, u8),
}

impl NoProxy {
    /// Parses a list whose entries are separated by commas or white space.
    pub(super) fn parse(list: &str) -> Self {
        let entries = list.split(|it: char| it == ',' || it.is_whitespace());
        Self(entries.filter(|entry| !entry.is_empty()).map(Entry::parse).collect())
    }

    /// Returns whether a host name or address is in the list. Names are not resolved.
    pub(super) fn contains(&self, host: &str) -> bool {
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|entry| match (entry, address) {
            (Entry::All, _) => true,
            (Entry::Domain(domain), None) => is_within(&name, domain),
            (Entry::Network(network, bits), Some(address)) => shares(*network, address, *bits),
            (Entry::Domain(_), Some(_)) | (Entry::Network(..), None) => false,
        })
    }
}

impl Entry {
    fn parse(entry: &str) -> Self {
        if entry == "*" {
            return Self::All;
        }
        let bare = entry.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            let address = address.to_canonical();
            return Self::Network(address, bits_of(address));
        }
        if let Some((address, bits)) = entry.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse())
            && bits <= bits_of(address)
        {
            return Self::Network(address, bits);
        }
        let domain = entry.strip_prefix('*').unwrap_or(entry).trim_matches('.');
        Self::Domain(domain.to_ascii_lowercase().into())
    }
}

/// Returns whether a name is a domain or one of its subdomains.
fn is_within(name: &str, domain: &str) -> bool {
    let outer = name.strip_suffix(domain).filter(|_| !domain.is_empty());
    outer.is_some_and(|outer| outer.is_empty() || outer.ends_with('.'))
}

const fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns whether the first bits of two addresses are equal.
fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let bits = u32::from(bits);
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (one.to_bits() ^ other.to_bits()).leading_zeros() >= bits
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            (one.to_bits() ^ other.to_bits()).leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::NoProxy;

    #[test]
    fn hosts_are_matched_by_domain_address_and_network() {
        for (list, host, is_in) in [
            ("", "a.example", false),
            (" , ", "a.example", false),
            (".", "a.example", false),
            ("*", "a.example", true),
            ("*", "10.0.0.1", true),
            ("example", "a.example", true),
            ("A.Example", "a.example", true),
            (".a.example", "a.example", true),
            ("*.a.example", "b.a.example", true),
            ("a.example.", "a.EXAMPLE", true),
            ("a.example", "a.example.", true),
            ("a.example", "ba.example", false),
            ("a.example", "a.example.org", false),
            ("b.example, a.example", "a.example", true),
            ("b.example a.example", "a.example", true),
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "::ffff:10.0.0.1", true),
            ("0.0.1", "10.0.0.1", false),
            ("10.0.0.0/8", "10.9.9.9", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("0.0.0.0/0", "11.0.0.0", true),
            ("0.0.0.0/0", "::1", false),
            ("10.0.0.0/33", "10.0.0.0", false),
            ("10.0.0.0/-1", "10.0.0.0", false),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe00::1", false),
            ("[fd00::1]", "fd00::1", true),
            ("10.0.0.0/8", "a.10.0.0.0", false),
        ] {
            assert_eq!(NoProxy::parse(list).contains(host), is_in, "{list:?} {host}");
        }
    }
}

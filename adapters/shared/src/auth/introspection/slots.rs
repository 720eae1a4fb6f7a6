//! Slots for questions in flight, shared fairly among the addresses of clients.
//!
//! ```text
//!           a slot is free for its address             given back
//! take ──────────────────────────────────────▶ held ──────────────▶ free
//!   │                                            ▲
//!   └──────────▶ waiting, in order of arrival ───┘
//!                      │                granted to the address with the fewest slots
//!                      └─ dropped ──▶ gone
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event;

/// A bounded number of slots, of which each address gets a fair share.
///
/// A free slot goes to the waiting address that holds the fewest, and among equals to the one that
/// has waited the longest. Unknown addresses share one lane, which may hold all slots.
#[derive(Default)]
pub(super) struct Slots {
    lanes: Mutex<Lanes>,
}

/// The number of slots in all, and of one address.
#[derive(Clone, Copy)]
pub(super) struct SlotsMax {
    pub(super) all: usize,
    pub(super) per_address: usize,
}

#[derive(Default)]
struct Lanes {
    held: usize,
    arrivals: u64,
    by_address: BTreeMap<Option<IpAddr>, Lane>,
}

/// What one address holds and waits for.
#[derive(Default)]
struct Lane {
    held: usize,
    waiting: VecDeque<Arc<Waiter>>,
}

/// A request that waits for a slot.
struct Waiter {
    arrival: u64,
    is_granted: AtomicBool,
    granted: Event,
}

/// A slot, given back when dropped.
pub(super) struct Slot {
    slots: Arc<Slots>,
    address: Option<IpAddr>,
    max: SlotsMax,
}

impl Slots {
    /// Waits for a place of an address.
    pub(super) async fn take(self: &Arc<Self>, address: Option<IpAddr>, max: SlotsMax) -> Slot {
        let waiter = self.lock().enter(address, max);
        let queued = Queued { slots: self, address, max, waiter: Some(waiter) };
        queued.granted().await;
        queued.into_place()
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    /// Queues a request, and grants it a slot if one is free.
    fn enter(&mut self, address: Option<IpAddr>, max: SlotsMax) -> Arc<Waiter> {
        self.arrivals += 1;
        let waiter = Arc::new(Waiter {
            arrival: self.arrivals,
            is_granted: AtomicBool::new(false),
            granted: Event::new(),
        });
        let lane = self.by_address.entry(address).or_default();
        lane.waiting.push_back(Arc::clone(&waiter));
        self.grant(max);
        waiter
    }

    /// Grants free slots to waiting requests.
    fn grant(&mut self, max: SlotsMax) {
        while self.held < max.all {
            let open = self.by_address.iter_mut().filter_map(|(address, lane)| {
                let lane_max = if address.is_some() { max.per_address } else { max.all };
                let arrival = lane.waiting.front()?.arrival;
                (lane.held < lane_max).then_some((lane.held, arrival, lane))
            });
            let next = open.min_by_key(|(held, arrival, _)| (*held, *arrival));
            let Some((_, _, lane)) = next else { return };
            let Some(waiter) = lane.waiting.pop_front() else { return };
            lane.held += 1;
            self.held += 1;
            waiter.is_granted.store(true, Ordering::Release);
            waiter.granted.notify(1);
        }
    }

    /// Gives back a slot, which goes to another request.
    fn give_back(&mut self, address: Option<IpAddr>, max: SlotsMax) {
        if let Some(lane) = self.by_address.get_mut(&address) {
            lane.held -= 1;
            self.held -= 1;
        }
        self.grant(max);
        self.forget_if_empty(address);
    }

    fn remove_waiter(&mut self, address: Option<IpAddr>, waiter: &Arc<Waiter>) {
        if let Some(lane) = self.by_address.get_mut(&address) {
            lane.waiting.retain(|other| !Arc::ptr_eq(other, waiter));
        }
        self.forget_if_empty(address);
    }

    fn forget_if_empty(&mut self, address: Option<IpAddr>) {
        let lane = self.by_address.get(&address);
        if lane.is_some_and(|lane| lane.held == 0 && lane.waiting.is_empty()) {
            self.by_address.remove(&address);
        }
    }
}

/// A request in the queue. Dropping it gives up the slot, granted or not.
struct Queued<'a> {
    slots: &'a Arc<Slots>,
    address: Option<IpAddr>,
    max: SlotsMax,
    waiter: Option<Arc<Waiter>>,
}

impl Queued<'_> {
    async fn granted(&self) {
        let Some(waiter) = &self.waiter else { return };
        loop {
            let granted = waiter.granted.listen();
            if waiter.is_granted.load(Ordering::Acquire) {
                return;
            }
            granted.await;
        }
    }

    /// Takes the granted slot.
    fn into_place(mut self) -> Slot {
        self.waiter = None;
        Slot { slots: Arc::clone(self.slots), address: self.address, max: self.max }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        let mut lanes = self.slots.lock();
        if waiter.is_granted.load(Ordering::Acquire) {
            lanes.give_back(self.address, self.max);
        } else {
            lanes.remove_waiter(self.address, &waiter);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().give_back(self.address, self.max);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;

    use futures_lite::future::{block_on, poll_once};

    use super::*;

    const MAX: SlotsMax = SlotsMax { all: 4, per_address: 3 };

    type Waiting<'a> = Pin<Box<dyn Future<Output = Slot> + 'a>>;

    fn address(number: u8) -> Option<IpAddr> {
        Some(IpAddr::from([10, 0, 0, number]))
    }

    fn start(slots: &Arc<Slots>, owner: Option<IpAddr>) -> Waiting<'_> {
        Box::pin(async move { slots.take(owner, MAX).await })
    }

    fn poll(waiting: &mut Waiting<'_>) -> Option<Slot> {
        block_on(poll_once(waiting))
    }

    #[test]
    fn one_address_never_holds_all_places() {
        let slots = Arc::default();
        let held: Vec<Slot> =
            (0..3).map(|_| poll(&mut start(&slots, address(1))).unwrap()).collect();
        let mut fourth = start(&slots, address(1));
        assert!(poll(&mut fourth).is_none(), "the share of the address is used up");
        let other = poll(&mut start(&slots, address(2)));
        assert!(other.is_some(), "others need not wait for the waiting ones");
        let mut third = start(&slots, address(3));
        assert!(poll(&mut third).is_none(), "all slots are held");
        drop(other);
        assert!(poll(&mut fourth).is_none());
        let third = poll(&mut third).unwrap();
        drop(held);
        let fourth = poll(&mut fourth).unwrap();
        assert_eq!(slots.lock().held, 2);
        drop((third, fourth));
        let lanes = slots.lock();
        assert!(lanes.held == 0 && lanes.by_address.is_empty(), "nothing is left behind");
    }

    #[test]
    fn a_free_place_goes_to_the_address_with_the_fewest() {
        let slots = Arc::default();
        let mut greedy: Vec<Slot> =
            (0..3).map(|_| poll(&mut start(&slots, address(1))).unwrap()).collect();
        let last = poll(&mut start(&slots, address(2))).unwrap();
        // Address 1 came first, but holds two slots when one becomes free.
        let mut early = start(&slots, address(1));
        assert!(poll(&mut early).is_none());
        let mut late = start(&slots, address(3));
        assert!(poll(&mut late).is_none());
        drop(greedy.pop());
        assert!(poll(&mut early).is_none());
        let late = poll(&mut late).unwrap();
        drop(last);
        assert!(poll(&mut early).is_some());
        drop((late, greedy));
        assert!(slots.lock().by_address.is_empty());
    }

    #[test]
    fn requests_that_are_given_up_keep_no_place() {
        let slots = Arc::default();
        let held: Vec<Slot> = (0..4).map(|_| poll(&mut start(&slots, None)).unwrap()).collect();
        let (mut granted, mut waiting) = (start(&slots, address(1)), start(&slots, address(2)));
        assert!(poll(&mut granted).is_none() && poll(&mut waiting).is_none());
        drop(waiting);
        assert!(!slots.lock().by_address.contains_key(&address(2)));
        drop(held);
        // Granted, but never polled again.
        drop(granted);
        assert!(slots.lock().by_address.is_empty());
    }
}

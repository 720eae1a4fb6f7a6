//! Two machines on one store, in every order of their actions.

use alloc::vec;
use alloc::vec::Vec;

use super::world::{Driver, World, user};
use crate::auth::*;

/// Two machines with one stored grant, both of whose tokens were rejected.
fn both_rejected(world: &mut World) -> [Driver; 2] {
    let mut drivers = [Driver::new(0, world, user()), Driver::new(1, world, user())];
    for driver in &mut drivers {
        driver.prints = false;
        driver.sign_in(world);
        driver.accept();
        assert_eq!(driver.ends(), [Ok(())]);
        assert_eq!(driver.reject(world, 401, &[]), Verdict::Wait);
    }
    drivers
}

/// Runs the actions in the order that `order` says, then all others; a machine may crash.
///
/// Returns how many choices there were.
fn run(
    world: &mut World,
    drivers: &mut [Driver; 2],
    order: &[usize],
    crash: Option<usize>,
) -> usize {
    let mut steps = 0;
    loop {
        let mut acted = false;
        let first = order.get(steps).copied().unwrap_or(steps % 2);
        for id in [first, 1 - first] {
            if crash == Some(steps) && id == first {
                world.crash(id);
                drivers[id] = Driver::new(id + 2, world, user());
            }
            drivers[id].unlock(world);
            if let Some(action) = drivers[id].take() {
                drivers[id].perform(world, action);
                acted = true;
                break;
            }
        }
        if !acted {
            drivers.iter_mut().for_each(Driver::collect);
            return steps;
        }
        steps += 1;
    }
}

/// Returns all orders of `length` choices between two.
fn orders(length: u32) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << length).map(move |bits| (0..length).map(|bit| bits >> bit & 1).collect())
}

// AUT-60, A-03, A-04: at most one refresh for a refresh token, and the loser adopts the winner's.
#[test]
fn two_processes_refresh_once_in_every_order() {
    for order in orders(10) {
        let mut world = World::new();
        let mut drivers = both_rejected(&mut world);
        run(&mut world, &mut drivers, &order, None);
        for driver in &mut drivers {
            assert_eq!(driver.ends(), [Ok(())], "{order:?}");
        }
        assert_eq!(drivers[0].token(), drivers[1].token(), "{order:?}");
        assert_eq!(world.auth_server().count("token refresh_token"), 1, "{order:?}");
        assert_eq!(world.auth_server().count("authorize"), 1, "{order:?}");
        world.assert_innocent();
        let stored = Driver::restored(&mut world);
        assert_eq!(stored, drivers[0].token(), "{order:?}: the winner's token is stored");
    }
}

// A refused token is dropped only if it is still the stored one.
#[test]
fn a_loser_deletes_nothing_of_the_winner() {
    for order in orders(8) {
        let mut world = World::new();
        let mut drivers = both_rejected(&mut world);
        world.auth_server().revoke();
        run(&mut world, &mut drivers, &order, None);
        let ends: Vec<_> = drivers.iter_mut().flat_map(Driver::ends).collect();
        assert_eq!(ends, vec![Ok(()), Ok(())], "{order:?}");
        assert!(Driver::restored(&mut world).is_some(), "{order:?}");
        let stored = Driver::restored(&mut world);
        assert!(drivers.iter().any(|driver| driver.token() == stored), "{order:?}");
    }
}

// A process that dies frees its lock: the other one continues.
#[test]
fn a_crash_at_any_moment_blocks_no_other_process() {
    for order in orders(5) {
        for crash in 0..40 {
            let mut world = World::new();
            let mut drivers = both_rejected(&mut world);
            let survivors_of = |drivers: &mut [Driver; 2]| {
                drivers.iter_mut().filter(|driver| driver.id < 2).map(Driver::ends).collect()
            };
            run(&mut world, &mut drivers, &order, Some(crash));
            let ends: Vec<_> = survivors_of(&mut drivers);
            for end in ends {
                assert_eq!(end, [Ok(())], "{order:?} {crash}");
            }
        }
    }
}

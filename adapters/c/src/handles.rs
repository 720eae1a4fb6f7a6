//! The table of connections. A handle is a number, so one that was freed, or never existed, is
//! found out instead of being followed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::connection::Connection;
use crate::status::{Failure, Status};

/// All connections of the process. A handle is the number of its slot, counted from 1, in the lower
/// 32 bits, and above that how often the slot was used before.
static TABLE: Mutex<Table> = Mutex::new(Table { slots: Vec::new(), free: Vec::new() });

struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

struct Slot {
    uses: u32,
    connection: Option<Arc<Mutex<Connection>>>,
}

/// Adds a connection and returns its handle.
///
/// # Errors
/// Fails if there are 2³² connections.
pub(crate) fn add(connection: Connection) -> Result<u64, Failure> {
    let connection = Some(Arc::new(Mutex::new(connection)));
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = table.free.pop()
        && let Some(slot) = table.slots.get_mut(number as usize)
    {
        slot.connection = connection;
        return Ok(handle(number, slot.uses));
    }
    let number = u32::try_from(table.slots.len()).ok().filter(|number| *number < u32::MAX);
    let number = number.ok_or_else(|| Failure::new(Status::Misuse, "too many connections"))?;
    table.slots.push(Slot { uses: 0, connection });
    Ok(handle(number, 0))
}

/// Removes a connection. It ends when the last call that uses it returns.
///
/// # Errors
/// Fails if there is no such connection.
pub(crate) fn remove(handle: u64) -> Result<(), Failure> {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let removed = table.slot(handle).and_then(|slot| {
        let removed = slot.connection.take();
        slot.uses = slot.uses.wrapping_add(1);
        removed.map(|removed| (removed, slot.uses))
    });
    let (removed, uses) = removed.ok_or_else(|| unknown(handle))?;
    // A slot whose handles would repeat is not used again.
    if uses != 0 {
        table.free.push(number(handle));
    }
    drop(table);
    drop(removed);
    Ok(())
}

/// Calls `body` with a connection. Calls on one connection wait for each other.
///
/// # Errors
/// Fails if there is no such connection, if an earlier call on it panicked, or if `body` fails.
pub(crate) fn with<T>(
    handle: u64,
    body: impl FnOnce(&mut Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let connection = {
        let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        table.slot(handle).and_then(|slot| slot.connection.clone())
    };
    let connection = connection.ok_or_else(|| unknown(handle))?;
    let mut connection = connection.lock().map_err(|_| {
        Failure::new(Status::Fault, "an earlier call on this connection panicked; free it")
    })?;
    body(&mut connection)
}

impl Table {
    fn slot(&mut self, handle: u64) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(number(handle) as usize)?;
        (u64::from(slot.uses) == handle >> 32).then_some(slot)
    }
}

/// Returns the number of the slot of a handle. That of 0 is one that no slot has.
const fn number(handle: u64) -> u32 {
    (handle as u32).wrapping_sub(1)
}

const fn handle(number: u32, uses: u32) -> u64 {
    ((uses as u64) << 32) | (number as u64 + 1)
}

fn unknown(handle: u64) -> Failure {
    let why = if handle == 0 { "0 is no connection" } else { "freed, or not of this process" };
    Failure::new(Status::UnknownConnection, format!("there is no connection {handle}: {why}"))
}

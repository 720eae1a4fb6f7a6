//! Containers for small and mostly idle state.

mod deadline_heap;
mod id_map;
mod lazy_box;
mod small_map;
mod sorted_map;

pub(crate) use deadline_heap::DeadlineHeap;
#[cfg(test)]
pub(crate) use id_map::CHUNK;
pub(crate) use id_map::IdMap;
pub(crate) use lazy_box::{Empty, LazyBox};
pub(crate) use small_map::SmallMap;
pub(crate) use sorted_map::SortedMap;

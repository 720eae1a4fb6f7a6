//! Execution of handlers and futures: the worker pool, cancellation, timers, waiting and the clock.

pub(crate) mod budget;
pub(crate) mod callbacks;
pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod manual_tasks;
pub(crate) mod operation;
pub(crate) mod pace;
pub(crate) mod poll_on_wake;
pub(crate) mod random;
pub(crate) mod sole_driver;
#[cfg(test)]
pub(crate) mod test_runtime;
pub(crate) mod thread_pool;
pub(crate) mod thread_sleep;
pub(crate) mod timer_queue;
pub(crate) mod watched;
pub(crate) mod workers;

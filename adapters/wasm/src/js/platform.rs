//! [`JsPlatform`]: the clock, timers, tasks and entropy of a JavaScript host.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use js_sys::{Date, Function, Object, Reflect, Uint8Array, global};
use mcp_proto::Instant;
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen::{JsCast as _, JsError};

use crate::platform::{LocalBoxFuture, Platform};

/// A JavaScript host: `performance.now`, `setTimeout`, the microtask queue and
/// `crypto.getRandomValues`.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsPlatform;

/// The longest delay of `setTimeout`, in milliseconds.
const DELAY_MS_MAX: u128 = i32::MAX as u128;

impl Platform for JsPlatform {
    fn now(&self) -> Instant {
        // Hosts without `performance` have a clock that may go back, which connections tolerate.
        let millis = method("performance", "now")
            .and_then(|(this, now)| now.call0(&this).ok())
            .and_then(|now| now.as_f64())
            .unwrap_or_else(Date::now);
        Instant::from_nanos((millis * 1e6) as u64)
    }

    fn unix_seconds(&self) -> u64 {
        (Date::now() / 1e3) as u64
    }

    fn sleep(&self, duration: Duration) -> LocalBoxFuture<'static, ()> {
        // `setTimeout` rounds down.
        let mut left = duration.as_nanos().div_ceil(1_000_000);
        let mut timer: Option<Timer> = None;
        Box::pin(poll_fn(move |cx| {
            let timer = loop {
                let running = timer.get_or_insert_with(|| {
                    let part = left.min(DELAY_MS_MAX);
                    left -= part;
                    Timer::start(part as f64)
                });
                if !running.state.has_fired.get() {
                    break running;
                }
                if left == 0 {
                    return Poll::Ready(());
                }
                timer = None;
            };
            timer.state.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        }))
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        js_sys::futures::spawn_local(task);
    }

    fn fill_random(&self, bytes: &mut [u8]) -> io::Result<()> {
        let none = || io::Error::new(io::ErrorKind::Unsupported, "the host has no `crypto`");
        let (crypto, fill) = method("crypto", "getRandomValues").ok_or_else(none)?;
        // One call fills 65,536 bytes at most; keys and ids are shorter.
        let length = u32::try_from(bytes.len()).map_err(|_| none())?;
        let filled = Uint8Array::new_with_length(length);
        fill.call1(&crypto, &filled).map_err(|_| none())?;
        filled.copy_to(bytes);
        Ok(())
    }
}

/// Returns a method of a global object, with its object.
fn method(object: &str, name: &str) -> Option<(JsValue, Function)> {
    let object = Reflect::get(&global(), &object.into()).ok()?;
    let method = Reflect::get(&object, &name.into()).ok()?;
    Some((object, method.dyn_into().ok()?))
}

/// Calls a global function.
///
/// # Errors
/// Fails with its exception, or if it does not exist.
pub(super) fn call_global(name: &str, arguments: &[&JsValue]) -> Result<JsValue, JsValue> {
    let scope: Object = global();
    let function = Reflect::get(&scope, &name.into())?;
    let function: Function = function
        .dyn_into()
        .map_err(|_| JsValue::from(JsError::new(&format!("the host has no `{name}`"))))?;
    match arguments {
        [] => function.call0(&scope),
        [one] => function.call1(&scope, one),
        [one, two, ..] => function.call2(&scope, one, two),
    }
}

/// A timer, which is cleared when it is dropped.
struct Timer {
    id: JsValue,
    state: Rc<TimerState>,
    /// Called by the host, so it must live as long as the timer.
    _callback: Closure<dyn FnMut()>,
}

#[derive(Default)]
struct TimerState {
    has_fired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Timer {
    fn start(millis: f64) -> Self {
        let state = Rc::new(TimerState::default());
        let fired = Rc::clone(&state);
        let callback: Closure<dyn FnMut()> = Closure::new(move || {
            fired.has_fired.set(true);
            let waker = fired.waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        let id = call_global("setTimeout", &[callback.as_ref(), &millis.into()]);
        // Without timers, waiting ends immediately rather than never.
        state.has_fired.set(id.is_err());
        Self { id: id.unwrap_or_default(), state, _callback: callback }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if !self.state.has_fired.get() {
            let _cleared = call_global("clearTimeout", &[&self.id]);
        }
    }
}

//! A JavaScript host: its microtask queue and `setTimeout`.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use js_sys::{Function, Object, Reflect, global};
use mcp_adapter::BoxFuture;
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::{Closure, JsValue};
use wasm_bindgen::{JsCast as _, JsError};

/// The JavaScript host of the module.
#[derive(Clone, Debug)]
pub(crate) struct Host;

/// The longest delay of `setTimeout`, in milliseconds.
const DELAY_MS_MAX: u128 = i32::MAX as u128;

impl Host {
    pub(crate) const fn current() -> Self {
        Self
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "shared signatures")]
    pub(crate) fn spawn(&self, task: BoxFuture<'static, ()>) -> io::Result<()> {
        js_sys::futures::spawn_local(task);
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "shared signatures")]
    pub(crate) fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        // `setTimeout` rounds down.
        let mut left = duration.as_nanos().div_ceil(1_000_000);
        let mut timer: Option<SendWrapper<Timer>> = None;
        Box::pin(poll_fn(move |cx| {
            let timer = loop {
                let running = timer.get_or_insert_with(|| {
                    let part = left.min(DELAY_MS_MAX);
                    left -= part;
                    SendWrapper::new(Timer::start(part as f64))
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
}

/// Calls a global function.
///
/// # Errors
/// Fails with its exception, or if it does not exist.
pub(crate) fn call_global(name: &str, arguments: &[&JsValue]) -> Result<JsValue, JsValue> {
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

//! HTTP worlds: clients and a server with its sessions, joined by exchanges that are slow,
//! reordered, cut, refused and lost; each seed draws one.

mod client;
mod commands;
mod conn;
mod coverage;
mod driver;
mod host;
mod host_session;
mod legacy_sse;
mod model;
mod net;
mod outcome;
mod plan;
mod rest;
mod server;
mod world;

pub(crate) use coverage::expected;
pub(crate) use plan::Plan;
pub(crate) use world::World;

//! Tests of the whole machine against a model of an authorization server.

mod dpop;
mod exhaustive;
mod failures;
mod flows;
mod interleavings;
mod regressions;
mod scenarios;
mod server;
mod stores;
mod traps;
mod verdicts;
mod world;

//! Tests of the whole machine against a model of an authorization server.

mod dpop;
mod exhaustive;
mod failures;
mod flows;
mod identities;
mod interleavings;
mod redirects;
mod refusals;
mod regressions;
mod scenarios;
mod server;
mod stores;
mod traps;
mod verdicts;
mod world;

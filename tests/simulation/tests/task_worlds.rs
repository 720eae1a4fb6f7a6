//! Worlds of tasks: all short ones, and some long ones.

#![allow(clippy::print_stdout, reason = "prints what was counted")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use mcp_proto::Revision;
use mcp_simulation::{TaskStep, TaskTally, TasksWorld, run_tasks};

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A task, of which its client knows.
const CREATED: [TaskStep; 3] = [TaskStep::Call(0), TaskStep::Up(0), TaskStep::Down(0)];

/// Plays steps, and perhaps what follows to the end. Returns false if one of them was not possible:
/// the world is then that of a shorter sequence.
fn play(
    revision: Revision,
    starts_again: bool,
    begin: &[TaskStep],
    steps: &[TaskStep],
    to_the_end: bool,
) -> bool {
    let mut world = TasksWorld::new(revision, starts_again);
    let played = catch_unwind(AssertUnwindSafe(|| {
        for step in begin {
            assert!(world.take(*step));
        }
        let is_possible = steps.iter().all(|step| world.take(*step));
        if is_possible && to_the_end {
            world.finish();
        }
        is_possible
    }));
    played.unwrap_or_else(|panic| {
        println!("{revision}, starts again: {starts_again}: {begin:?} {steps:?}");
        resume_unwind(panic)
    })
}

/// Plays all sequences of this length. Returns how many differ from shorter ones.
fn play_all(begin: &[TaskStep], steps: &[TaskStep], length: usize) -> usize {
    let mut count = 0;
    for revision in REVISIONS {
        for starts_again in [false, true] {
            let mut sequences = vec![Vec::new()];
            for taken in 1..=length {
                let longer = sequences.iter().flat_map(|sequence: &Vec<TaskStep>| {
                    steps.iter().map(|step| [&sequence[..], &[*step]].concat())
                });
                let is_last = taken == length;
                sequences = longer
                    .filter(|sequence| play(revision, starts_again, begin, sequence, is_last))
                    .collect();
            }
            count += sequences.len();
        }
    }
    count
}

/// Returns the steps that concern one task and its client, and the connection of the other client.
fn of_one_client() -> Vec<TaskStep> {
    let is_of_other =
        |step: &TaskStep| matches!(step, TaskStep::Call(1) | TaskStep::Up(1) | TaskStep::Down(1));
    TaskStep::all(1).into_iter().filter(|step| !is_of_other(step)).collect()
}

#[test]
fn every_short_world_of_tasks_keeps_all_promises() {
    let count = play_all(&[], &TaskStep::all(1), 2);
    println!("{count} worlds of 2 steps");
    let count = play_all(&CREATED, &of_one_client(), 3);
    println!("{count} worlds of 3 steps after the creation of a task");
    assert!(count > 2500, "{count}");
}

#[test]
#[ignore = "takes two minutes: `.ci/full long_tests`"]
fn every_longer_world_of_tasks_keeps_all_promises() {
    let count = play_all(&[], &TaskStep::all(1), 4);
    println!("{count} worlds of 4 steps");
    assert!(count > 7_000, "{count}");
    let count = play_all(&CREATED, &of_one_client(), 5);
    println!("{count} worlds of 5 steps after the creation of a task");
    assert!(count > 160_000, "{count}");
}

#[test]
fn random_worlds_of_tasks_keep_all_promises() {
    let mut tally = TaskTally::default();
    for seed in 0..300 {
        if let Err(failure) = run_tasks(seed, &mut tally) {
            panic!("{failure}");
        }
    }
    print!("{tally}");
    for end in ["Completed", "Failed", "Restarted", "Cancelled", "Expired"] {
        assert!(tally.of(&format!("tasks {end}")) > 20, "what is drawn got poor:\n{tally}");
    }
}

//! All short sequences of operations, all states that longer ones reach, and random long ones.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::op::TaskOp;
use super::world::TaskWorld;
use crate::tasks::TaskProtocol;

const PROTOCOLS: [TaskProtocol; 2] = [TaskProtocol::Core, TaskProtocol::Extension];

/// The operations of small worlds: two principals, at most two tasks.
fn alphabet() -> Vec<TaskOp> {
    let mut ops = Vec::from([
        TaskOp::Create { owner: 0 },
        TaskOp::Create { owner: 1 },
        TaskOp::Advance,
        TaskOp::Restart,
        TaskOp::StopWaiting,
        TaskOp::Disconnect { connection: 1 },
    ]);
    for task in [0, 1] {
        ops.extend([
            TaskOp::Get { task },
            TaskOp::Result { task, connection: 0 },
            TaskOp::Result { task, connection: 1 },
            TaskOp::Intrude { task },
            TaskOp::Ask { task },
            TaskOp::Checkpoint { task },
            TaskOp::Answer { task },
            TaskOp::Complete { task, is_error: false },
            TaskOp::Complete { task, is_error: true },
            TaskOp::Fail { task },
            TaskOp::Cancel { task },
            TaskOp::Watch { task },
        ]);
    }
    ops
}

fn replay(protocol: TaskProtocol, path: &[TaskOp]) -> TaskWorld {
    let mut world = TaskWorld::new(protocol);
    path.iter().for_each(|op| world.apply(*op));
    world
}

/// Every sequence of three operations after the creation of a task.
#[test]
fn every_short_sequence_behaves_like_the_model_tsk_10_tsk_13_tsk_18() {
    let (ops, mut count) = (alphabet(), 0);
    for protocol in PROTOCOLS {
        for owner in [0, 1] {
            for first in &ops {
                for second in &ops {
                    for third in &ops {
                        replay(protocol, &[TaskOp::Create { owner }, *first, *second, *third]);
                        count += 1;
                    }
                }
            }
        }
    }
    assert_eq!(count, 4 * 30_usize.pow(3));
}

/// Every operation in every state that sequences of up to this many operations reach.
#[test]
fn every_operation_in_every_reachable_state_behaves_like_the_model() {
    const DEPTH: usize = 7;
    const STATES_MAX: usize = 1_500;
    let mut count = 0;
    for protocol in PROTOCOLS {
        let (mut seen, mut paths) = (BTreeSet::new(), Vec::from([Vec::new()]));
        for _ in 0..DEPTH {
            let mut longer = Vec::new();
            for path in &paths {
                for op in alphabet() {
                    let mut path: Vec<TaskOp> = path.clone();
                    path.push(op);
                    count += 1;
                    let state = replay(protocol, &path).state();
                    if seen.len() < STATES_MAX && seen.insert(state) {
                        longer.push(path);
                    }
                }
            }
            paths = longer;
        }
        assert!(seen.len() > 100, "{protocol:?}: {} states", seen.len());
    }
    assert!(count > 50_000, "{count} sequences");
}

proptest! {
    #[test]
    fn long_sequences_behave_like_the_model(
        is_core in any::<bool>(),
        bytes in proptest::collection::vec(0..TaskOp::COUNT, 0..120),
    ) {
        let protocol = PROTOCOLS[usize::from(!is_core)];
        let ops: Vec<TaskOp> = bytes.into_iter().map(TaskOp::from_byte).collect();
        replay(protocol, &ops);
    }
}

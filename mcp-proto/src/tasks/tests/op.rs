//! [`TaskOp`]: one operation on a task table.

/// One operation on the table of a [`TaskWorld`](super::world::TaskWorld).
///
/// A `task` is the position of a task in the order of creation; operations on tasks that were not
/// created yet try an unknown id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TaskOp {
    /// A principal creates a task. Every second task runs again after a restart.
    Create {
        /// The principal: 0 or 1.
        owner: u8,
    },
    /// The owner requests the status.
    Get {
        /// The task.
        task: u8,
    },
    /// The owner requests the result, on connection 0 or 1.
    Result {
        /// The task.
        task: u8,
        /// The connection.
        connection: u8,
    },
    /// The other principal tries to cancel the task.
    Intrude {
        /// The task.
        task: u8,
    },
    /// The handler replaces what is known about the task after a restart.
    Checkpoint {
        /// The task.
        task: u8,
    },
    /// The handler asks for input.
    Ask {
        /// The task.
        task: u8,
    },
    /// The oldest outstanding input request is answered, and a key that was never outstanding.
    Answer {
        /// The task.
        task: u8,
    },
    /// The handler completes the task.
    Complete {
        /// The task.
        task: u8,
        /// Whether the result has `isError`.
        is_error: bool,
    },
    /// The handler fails with an error.
    Fail {
        /// The task.
        task: u8,
    },
    /// The owner cancels the task.
    Cancel {
        /// The task.
        task: u8,
    },
    /// The owner subscribes to the task, on connection 1.
    Watch {
        /// The task.
        task: u8,
    },
    /// All waiting requests of connection 0 are cancelled, one by one.
    StopWaiting,
    /// A connection ends.
    Disconnect {
        /// The connection: 0 or 1.
        connection: u8,
    },
    /// Half of the ttl of a task passes.
    Advance,
    /// The server is killed and restarted: a new table is restored from the stored records.
    Restart,
}

impl TaskOp {
    /// The number of operations that [`from_byte`](Self::from_byte) can return.
    pub(super) const COUNT: u8 = 7 + 3 * Self::PER_TASK;

    /// The operations on one task.
    const PER_TASK: u8 = 12;

    /// Returns the operation with this number, modulo [`COUNT`](Self::COUNT).
    pub(super) fn from_byte(byte: u8) -> Self {
        let byte = byte % Self::COUNT;
        match byte {
            0 | 1 => return Self::Create { owner: byte },
            2 => return Self::Advance,
            3 => return Self::Restart,
            4 => return Self::StopWaiting,
            5 | 6 => return Self::Disconnect { connection: byte - 5 },
            _ => {}
        }
        let task = (byte - 7) / Self::PER_TASK;
        match (byte - 7) % Self::PER_TASK {
            0 => Self::Get { task },
            1 => Self::Result { task, connection: 0 },
            2 => Self::Result { task, connection: 1 },
            3 => Self::Intrude { task },
            4 => Self::Ask { task },
            5 => Self::Checkpoint { task },
            6 => Self::Answer { task },
            7 => Self::Complete { task, is_error: false },
            8 => Self::Complete { task, is_error: true },
            9 => Self::Fail { task },
            10 => Self::Cancel { task },
            _ => Self::Watch { task },
        }
    }
}

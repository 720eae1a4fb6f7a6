//! [`TaskStep`]: what can happen in a world of tasks.

/// What can happen in a world of tasks. A `task` is a position in the order of creation, and a
/// `client` is 0 or 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TaskStep {
    /// A client calls the tool. Handlers of every second task start again after a restart.
    Call(usize),
    /// Messages of a client arrive at the server.
    Up(usize),
    /// Messages of the server arrive at a client.
    Down(usize),
    /// Time passes until a client polls a task.
    Poll,
    /// A handler asks for input.
    Ask(usize),
    /// The client of a task answers its input requests.
    Answer(usize),
    /// A handler returns a result.
    Complete(usize),
    /// A handler returns an error.
    Fail(usize),
    /// The client of a task cancels it.
    Cancel(usize),
    /// More time passes than tasks have.
    Expire,
    /// A connection breaks; what is on its way is lost. The client connects again.
    Disconnect(usize),
    /// The server is killed, and starts again with what is stored. Both clients connect again.
    Restart,
}

impl TaskStep {
    /// Returns all steps of worlds with this many tasks.
    #[must_use]
    pub fn all(tasks: usize) -> Vec<Self> {
        let mut steps = vec![Self::Poll, Self::Expire, Self::Restart];
        for client in [0, 1] {
            steps.extend([
                Self::Call(client),
                Self::Up(client),
                Self::Down(client),
                Self::Disconnect(client),
            ]);
        }
        for task in 0..tasks {
            steps.extend([
                Self::Ask(task),
                Self::Answer(task),
                Self::Complete(task),
                Self::Fail(task),
                Self::Cancel(task),
            ]);
        }
        steps
    }
}

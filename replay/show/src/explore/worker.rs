//! The thread that reads values, so that keys are answered meanwhile. It ends with the program.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use super::work::{Answer, Want, answer, metrics};
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::values::Values;

/// The thread.
#[derive(Debug)]
pub(super) struct Worker {
    wants: Sender<Want>,
    answers: Receiver<(Answer, Option<String>)>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system starts none.
    pub(super) fn start(opened: Arc<Opened>) -> Result<Worker> {
        let (wants, asked) = channel();
        let (told, answers) = channel();
        let work = move || {
            let values = Values::new(&opened.report);
            let (metrics, _) = metrics(&values);
            for want in asked {
                if told.send(answer(&opened, &values, &metrics, want)).is_err() {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("values".into()).spawn(work);
        thread.map_err(|error| Error::new(format!("cannot start a thread: {error}")))?;
        Ok(Worker { wants, answers })
    }

    /// Asks for values.
    pub(super) fn ask(&self, want: Want) {
        // If the thread has ended, that is found where its answer is.
        let _ = self.wants.send(want);
    }

    /// What was found, if it is there.
    ///
    /// # Errors
    /// If the thread has ended, which is by a panic.
    pub(super) fn answer(&self) -> Result<Option<(Answer, Option<String>)>> {
        match self.answers.try_recv() {
            Ok(answer) => Ok(Some(answer)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Error::new("the values cannot be computed")),
        }
    }
}

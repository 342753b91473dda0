//! The MPI functions that are recorded.

use recording::functions::{self, MpiFunction};
use recording::settings::VARIABLES;

/// How much of a function's calls is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing: the calls pass through.
    Nothing,
    /// Calls that have an effect (complete a request, create a communicator).
    Effects,
    /// All calls.
    All,
}

/// How much is recorded of each function, by its number.
pub(crate) struct Selection {
    choices: Vec<Choice>,
}

impl Selection {
    /// Parses the user's choice of functions: names or groups, comma separated, or `all`; with `+` or `-` in
    /// front of the first they change the default. Functions that start or end MPI are always included.
    pub(crate) fn new(choice: &str) -> Selection {
        let default = VARIABLES.iter().find(|v| v.name == "REPLAY_FUNCTIONS").map_or("", |v| v.default);
        let unchosen =
            |function: &MpiFunction| if function.is_followed() { Choice::Effects } else { Choice::Nothing };
        let mut selection = Selection { choices: functions::all().iter().map(unchosen).collect() };
        if choice.trim_start().starts_with(['+', '-']) {
            selection.apply(default, unchosen);
        }
        selection.apply(choice, unchosen);
        const STARTS_AND_ENDS: &str =
            "MPI_Init,MPI_Init_thread,MPI_Finalize,MPI_Session_init,MPI_Session_finalize";
        selection.apply(STARTS_AND_ENDS, unchosen);
        selection
    }

    fn apply(&mut self, choice: &str, unchosen: impl Fn(&MpiFunction) -> Choice) {
        for word in choice.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let is_wanted = !word.starts_with('-');
            let word = word.trim_start_matches(['+', '-']);
            for (function, choice) in functions::all().iter().zip(&mut self.choices) {
                if function.is_meant_by(word) {
                    *choice = if is_wanted { Choice::All } else { unchosen(function) };
                }
            }
        }
    }

    /// Returns how much of a function's calls is recorded.
    #[inline]
    pub(crate) fn of(&self, function: u32) -> Choice {
        self.choices.get(function as usize).copied().unwrap_or(Choice::Nothing)
    }
}

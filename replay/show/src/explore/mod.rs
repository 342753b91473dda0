//! `explore`: three trees on the terminal, metric, call tree and locations; the selection in each decides the values in those
//! right of it.
//!
//! Values come from [`values`](crate::values) and [`tables`](crate::tables) as in all commands. The state is pure: keys change
//! it, it says which values are missing, and takes them. A thread reads them meanwhile.
//!
//! | file | content |
//! |---|---|
//! | `pane` | a tree with its cursor, and what is open and selected |
//! | `locations` | the tree of locations |
//! | `state`, `keys` | the state, and what keys do to it |
//! | `work`, `worker` | values that are asked for, and the thread that reads them |
//! | `panes`, `below`, `strip` | what is drawn |
//! | `terminal` | the terminal, keys and signals |

mod below;
mod keys;
mod locations;
mod pane;
mod panes;
mod state;
mod strip;
mod terminal;
mod work;
mod worker;

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;

use crate::error::Result;
use crate::opened::Opened;
use crate::output::Screen;
use crate::values::{Quantity, Values};
use state::State;
use worker::Worker;

/// Shows a report on the terminal until the user quits.
///
/// # Errors
/// If the terminal cannot be used.
pub fn run(opened: Opened, screen: &Screen) -> Result<()> {
    let opened = Arc::new(opened);
    let worker = Worker::start(Arc::clone(&opened))?;
    let values = Values::new(&opened.report);
    let mut state = State::new(&opened, &values, screen.clone());
    terminal::run(&mut state, &worker)
}

/// The explorer without a terminal: for tests, and whatever else draws its screen.
#[derive(Debug)]
pub struct Explorer<'o> {
    state: State<'o>,
    values: Values<'o>,
    metrics: Vec<Quantity>,
}

impl<'o> Explorer<'o> {
    /// The explorer as it begins.
    pub fn new(opened: &'o Opened, screen: &Screen) -> Explorer<'o> {
        let values = Values::new(&opened.report);
        let state = State::new(opened, &values, screen.clone());
        let (metrics, _) = work::metrics(&values);
        Explorer { state, values, metrics }
    }

    /// Does what a key says.
    pub fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        keys::press(&mut self.state, KeyEvent::new(code, modifiers));
    }

    /// Reads the values that are missing; returns how often.
    pub fn settle(&mut self) -> usize {
        let mut count = 0;
        while let Some(want) = self.state.wanted() {
            self.state.accept(work::answer(self.state.opened, &self.values, &self.metrics, want));
            count += 1;
        }
        count
    }

    /// Draws the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        panes::draw(frame, &mut self.state);
    }

    /// Whether the user has quit.
    pub fn is_over(&self) -> bool {
        self.state.is_over
    }
}

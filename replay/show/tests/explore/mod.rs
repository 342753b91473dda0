//! `explore`: screens, keys, and values that are those of other commands.

mod terminal;

use std::io::sink;
use std::path::Path;

use crossterm::event::{KeyCode, KeyModifiers};
use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::Value;
use show::explore::Explorer;
use show::opened::Opened;
use show::output::{Output, OutputArgs, Screen, Surroundings};
use show::status::Status;

use crate::conventions::example;
use crate::support::example::{self, Names};
use crate::support::run;

/// Opens a report.
fn open(path: &str) -> Opened {
    let (mut results, mut messages) = (sink(), sink());
    let surroundings = Surroundings::default();
    let mut output = Output::new(&OutputArgs::default(), &surroundings, &mut results, &mut messages);
    Opened::open(Path::new(path), &mut output).unwrap()
}

const UNICODE: Screen = Screen { width: 100, is_coloured: false, is_unicode: true };

/// The explorer with a screen.
struct Session<'o> {
    explorer: Explorer<'o>,
    terminal: Terminal<TestBackend>,
}

impl<'o> Session<'o> {
    fn new(opened: &'o Opened, screen: &Screen, (columns, rows): (u16, u16)) -> Session<'o> {
        let terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        Session { explorer: Explorer::new(opened, screen), terminal }
    }

    /// Presses keys: letters, or names in angle brackets.
    fn press(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(letter) = rest.chars().next() {
            let (name, behind) = match rest.strip_prefix('<').and_then(|it| it.split_once('>')) {
                Some((name, behind)) => (name, behind),
                None => ("", &rest[letter.len_utf8()..]),
            };
            let code = match name {
                "" => KeyCode::Char(letter),
                "up" => KeyCode::Up,
                "down" => KeyCode::Down,
                "left" => KeyCode::Left,
                "right" => KeyCode::Right,
                "enter" => KeyCode::Enter,
                "tab" => KeyCode::Tab,
                "backtab" => KeyCode::BackTab,
                "esc" => KeyCode::Esc,
                "back" => KeyCode::Backspace,
                "end" => KeyCode::End,
                "home" => KeyCode::Home,
                "pgdn" => KeyCode::PageDown,
                "pgup" => KeyCode::PageUp,
                "ctrl-c" => {
                    self.explorer.press(KeyCode::Char('c'), KeyModifiers::CONTROL);
                    rest = behind;
                    continue;
                }
                name => panic!("no key {name}"),
            };
            self.explorer.press(code, KeyModifiers::NONE);
            rest = behind;
        }
    }

    /// What is on the screen, with all values that it needs.
    fn text(&mut self) -> String {
        // What is on the screen decides what is read, and the other way round.
        for _ in 0..2 {
            self.terminal.draw(|frame| self.explorer.draw(frame)).unwrap();
            self.explorer.settle();
        }
        self.terminal.draw(|frame| self.explorer.draw(frame)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let lines = buffer.content.chunks(usize::from(buffer.area.width));
        let text = |line: &[ratatui::buffer::Cell]| line.iter().map(|cell| cell.symbol()).collect::<String>();
        lines.map(|line| text(line).trim_end().to_owned() + "\n").collect()
    }

    fn text_after(&mut self, keys: &str) -> String {
        self.press(keys);
        self.text()
    }
}

/// The columns of a pane on a screen of three.
fn pane(text: &str, number: usize) -> Vec<String> {
    let lines = text.lines().take_while(|line| !line.starts_with("──"));
    lines.filter_map(|line| Some(line.split('│').nth(number)?.trim_end().to_owned())).collect()
}

/// The value in front of a name in a pane.
fn value(text: &str, number: usize, name: &str) -> String {
    let lines = pane(text, number);
    let line = lines.iter().skip(1).find(|line| line.ends_with(&format!(" {name}")));
    let line = line.unwrap_or_else(|| panic!("no {name} in {lines:#?}"));
    let value = line.trim_start_matches(['>', '*', ' ']);
    let unit = ["s ", "% "].iter().find_map(|unit| Some(value.find(&format!(" {unit}"))? + 2));
    value[..unit.unwrap_or_else(|| value.find(' ').unwrap())].to_owned()
}

#[test]
fn screens_of_100_columns() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (100, 30));
    let mut all = session.text();
    for keys in ["<down>jjj", "<tab>jj", "<tab>j", "t", "w", "?"] {
        all += &format!("\nkeys {keys}\n{}", session.text_after(keys));
    }
    assert_snapshot!(all);
}

#[test]
fn screens_of_few_columns_and_in_ascii() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut all = String::new();
    for size in [(40, 16), (20, 5), (80, 24)] {
        let screen = Screen { is_unicode: false, ..UNICODE };
        let text = Session::new(&opened, &screen, size).text_after("jjjj<tab>jjj<tab>");
        assert!(text.is_ascii(), "{text}");
        all += &format!("{size:?}\n{text}\n");
    }
    assert_snapshot!(all);
}

#[test]
fn selection_decides_values_to_the_right() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    let text = session.text();
    assert_eq!(value(&text, 1, "MPI_Barrier"), "0.060 s", "waiting:\n{text}");
    assert_eq!(value(&text, 2, "rank 0"), "0.030 s");
    // Late Sender.
    let text = session.text_after("/mpi_latesender<enter>");
    assert_eq!((value(&text, 1, "MPI_Barrier"), value(&text, 1, "app")), ("·".into(), "0.180 s".into()));
    assert_eq!(value(&text, 2, "rank 3"), "0.070 s");
    assert_eq!(value(&text, 0, "mpi_latesender"), "0.180 s", "metrics do not depend on it:\n{text}");
    // Late senders in MPI_Barrier.
    let text = session.text_after("2/barrier<enter>");
    assert_eq!(value(&text, 2, "rank 3"), "·");
    assert_eq!(value(&text, 1, "app"), "0.180 s", "call paths do not depend on it:\n{text}");
}

#[test]
fn several_metrics_and_call_paths_are_added() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    session.press("/mpi_latesender<enter> /barrier_wait<enter> ");
    let text = session.text();
    assert_eq!(value(&text, 1, "app"), "0.240 s", "{text}");
    assert!(pane(&text, 0).iter().filter(|line| line.contains('*')).count() == 2, "{text}");
    let text = session.text_after("2/recv<enter> /barrier<enter> ");
    assert_eq!((value(&text, 2, "rank 0"), value(&text, 2, "rank 3")), ("0.030 s".into(), "0.070 s".into()));
    // A metric and one above it count once.
    let text = session.text_after("1<esc>/mpi_latesender<enter> /mpi_point2point<enter> ");
    assert_eq!(value(&text, 1, "app"), "0.180 s", "{text}");
    let text = session.text_after("<esc>2<esc>");
    assert!(!text.contains('*'), "{text}");
}

#[test]
fn shares_are_of_the_root_or_of_what_is_selected() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    // Waiting is 0.240 s of 0.494 s.
    let text = session.text_after("%");
    assert!(text.contains("% of time"), "{text}");
    assert_eq!(value(&text, 1, "app"), "48.6 %");
    let text = session.text_after("%");
    assert!(text.contains("% of Waiting"), "{text}");
    assert_eq!((value(&text, 1, "app"), value(&text, 1, "MPI_Barrier")), ("100.0 %".into(), "25.0 %".into()));
    assert_eq!(value(&text, 2, "rank 3"), "29.2 %");
    let text = session.text_after("%");
    assert_eq!(value(&text, 1, "app"), "0.240 s");
}

#[test]
fn shares_of_time_with_gaps_say_so() {
    for (paradigm, expected) in [("measurement", "% of time with gaps"), ("compiler", "% of time ")] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.cubex");
        example::report_with_off(paradigm).write(&path, &[]);
        let opened = open(path.to_str().unwrap());
        let mut session = Session::new(&opened, &UNICODE, (120, 30));
        let text = session.text_after("%");
        assert!(text.contains(expected) && (paradigm == "measurement" || !text.contains("gaps")), "{text}");
    }
}

#[test]
fn exclusive_values_are_those_of_call_paths_alone() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    session.press("/time<enter>2jj");
    let text = session.text();
    assert_eq!(value(&text, 1, "main"), "0.494 s", "{text}");
    let text = session.text_after("gje");
    assert!(text.contains("call paths alone"), "{text}");
    assert_eq!((value(&text, 1, "main"), value(&text, 2, "rank 0")), ("0.004 s".into(), "0.00100 s".into()));
    assert_eq!(value(&session.text_after("e"), 2, "rank 0"), "0.131 s");
}

#[test]
fn rows_are_in_the_order_that_is_asked_for() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    let names = |text: &str| {
        let lines = pane(text, 2);
        let names: Vec<String> =
            lines.iter().skip(1).filter_map(|line| Some(line.rsplit_once("rank ")?.1.to_owned())).collect();
        names.join(" ")
    };
    assert_eq!(names(&session.text_after("/mpi_barrier<enter>3")), "0 1 2 3");
    assert_eq!(names(&session.text_after("s")), "0 1 2 3");
    // 0, 0.050, 0.060, 0.070.
    assert_eq!(names(&session.text_after("1/mpi_latesender<enter>3")), "3 2 1 0");
    assert_eq!(names(&session.text_after("s")), "0 1 2 3");
    assert_eq!(names(&session.text_after("s")), "0 1 2 3");
}

#[test]
fn nodes_open_and_close() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (120, 30));
    let closed = session.text_after("2<enter>");
    assert!(!pane(&closed, 1).iter().any(|line| line.contains("main")), "{closed}");
    for keys in ["<enter>", "<left><right>", "h<right>", "<left>l"] {
        let open = session.text_after(keys);
        assert!(pane(&open, 1).iter().any(|line| line.contains("main")), "{keys}:\n{open}");
    }
    // What is found is opened.
    let found = session.text_after("<left>/work<enter>");
    assert!(pane(&found, 1).iter().any(|line| line.starts_with('>') && line.ends_with("work")), "{found}");
    let missing = session.text_after("/nothing");
    assert!(missing.contains("no name has \"nothing\""), "{missing}");
    let gone = session.text_after("<esc>");
    assert!(!gone.contains("nothing"), "{gone}");
}

#[test]
fn values_are_those_of_tree_and_ranks() {
    let (_directory, path) = example();
    let opened = open(&path);
    let json = |arguments: &[&str]| -> Value {
        let printed = run(80, &[arguments, &[&path, "--json"]].concat());
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        serde_json::from_str(&printed.results).unwrap()
    };
    // With as many decimals as there are: the largest value of a pane says how many.
    let is = |shown: &str, number: &Value| match (number.as_f64().unwrap(), shown.split_once([' ', '.'])) {
        (0.0, _) => shown == "·",
        (number, Some((_, decimals))) => shown == format!("{number:.*} s", decimals.len() - 2),
        _ => false,
    };
    let metrics = json(&["tree", "--metrics"]);
    let mut session = Session::new(&opened, &UNICODE, (120, 40));
    let metrics = metrics["metrics"].as_array().unwrap().clone();
    assert!(metrics.len() > 8);
    for metric in &metrics {
        let name = metric["name"].as_str().unwrap();
        session.press(&format!("1g/{name}<enter>2g"));
        let text = session.text();
        assert!(is(&value(&text, 0, name), &metric["value"]), "{name}:\n{text}");
        let tree = json(&["tree", "-m", name]);
        for node in tree["nodes"].as_array().unwrap() {
            let call = node["name"].as_str().unwrap();
            assert!(is(&value(&text, 1, call), &node[name]), "{name} {call}:\n{text}");
            session.press(&format!("g/{call}<enter>"));
            let text = session.text();
            let glob = node["path"].as_str().unwrap();
            for row in json(&["ranks", "-m", name, "--path", glob])["rows"].as_array().unwrap() {
                let rank = row["name"].as_str().unwrap();
                assert!(is(&value(&text, 2, rank), &row[name]), "{name} {call} {rank}:\n{text}");
            }
            let node = &json(&["ranks", "-m", name, "--path", glob, "--by", "node"])["rows"][0];
            assert!(is(&value(&text, 2, "machine m"), &node[name]), "{name} {call}:\n{text}");
        }
    }
}

#[test]
fn waits_are_those_of_the_selection() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (140, 40));
    let below =
        |text: &str| text.lines().skip_while(|line| !line.starts_with("──")).collect::<Vec<_>>().join("\n");
    let text = below(&session.text_after("w"));
    assert!(text.contains("rank 3") && text.contains("rank 1") && text.contains("Wait at Barrier"), "{text}");
    let text = below(&session.text_after("/mpi_latesender<enter>"));
    assert!(text.contains("rank 3") && !text.contains("Wait at Barrier"), "{text}");
    let text = below(&session.text_after("3/rank 1<enter>"));
    assert!(text.contains("0.0500 s") && !text.contains("rank 3"), "{text}");
    let text = below(&session.text_after("/rank 0<enter>"));
    assert!(text.contains("None of the severest waits is here"), "{text}");
}

#[test]
fn strip_is_of_the_selected_locations() {
    let (_directory, path) = example();
    let opened = open(&path);
    let mut session = Session::new(&opened, &UNICODE, (100, 30));
    let line = |text: &str, name: &str| {
        let found = text.lines().find(|line| line.starts_with(name) && !line.contains('│'));
        found.unwrap_or_else(|| panic!("no {name}:\n{text}")).to_owned()
    };
    let text = session.text_after("t/mpi_latesender<enter>");
    assert!(text.contains("mpi_latesender over time"), "{text}");
    assert!(line(&text, "all").contains('▅'), "{text}");
    let text = session.text_after("3/rank 0<enter>");
    assert!(!line(&text, "rank 0").contains('█'), "rank 0 never waits for a sender:\n{text}");
    let text = session.text_after("/rank 1<enter>");
    assert!(line(&text, "rank 1").contains('█'), "{text}");
    // The report does not have the time of delays: waiting is shown, and said.
    let text = session.text_after("1g/delay<enter>");
    assert!(text.contains("Waiting over time"), "{text}");
}

#[test]
fn reports_without_details_say_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::report(&Names::default()).write(&path, &[]);
    let opened = open(path.to_str().unwrap());
    let mut session = Session::new(&opened, &UNICODE, (140, 40));
    assert_eq!(value(&session.text(), 1, "app"), "0.240 s");
    assert!(session.text_after("t").contains("no table of time"));
    let text = session.text_after("w");
    assert!(text.contains("no list of waits") || text.contains("replay-analyze"), "{text}");
}

#[test]
fn small_terminals_and_all_keys_do_no_harm() {
    let (_directory, path) = example();
    let opened = open(&path);
    for columns in [1, 2, 3, 7, 19, 20, 33, 59, 60, 61, 300] {
        for rows in [1, 2, 3, 4, 5, 9, 10, 11, 60] {
            let mut session = Session::new(&opened, &UNICODE, (columns, rows));
            session.text();
            for keys in [
                "jjjj",
                "<tab>jj ",
                "j w",
                "t",
                "3js",
                "?",
                "x",
                "%e",
                "]]]]",
                "<pgdn><pgup>",
                "/ran",
                "<esc>",
            ] {
                session.text_after(keys);
            }
        }
    }
}

#[test]
fn hostile_names_are_text() {
    let long = "long".repeat(5_000);
    for name in ["\x1b]0;title\x07\x1b[31m\u{9b}2J", "a\u{202e}b\u{2028}", "", "你好", long.as_str()] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.cubex");
        let names = Names {
            program: name.into(),
            solve: name.into(),
            file: name.into(),
            communicator: name.into(),
            place: name.into(),
        };
        example::write(&path, &names, |_| {});
        let opened = open(path.to_str().unwrap());
        for columns in [20, 100] {
            let mut session = Session::new(&opened, &UNICODE, (columns, 30));
            for keys in ["", "2", "jjj", "jw", "t", "3"] {
                let text = session.text_after(keys);
                let is_hostile = |letter: char| {
                    letter != '\n' && letter.is_control() || "\u{202e}\u{2028}".contains(letter)
                };
                assert!(!text.contains(is_hostile), "{text:?}");
            }
        }
    }
}

#[test]
fn damaged_reports_are_shown_as_far_as_they_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    let bytes = std::fs::read(&path).unwrap();
    let mut opened_once = 0;
    for step in 0..200 {
        let mut bytes = bytes.clone();
        let at = step * bytes.len() / 200 + step % 5;
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(&path, &bytes).unwrap();
        let (mut results, mut messages) = (sink(), sink());
        let surroundings = Surroundings::default();
        let mut output = Output::new(&OutputArgs::default(), &surroundings, &mut results, &mut messages);
        let Ok(opened) = Opened::open(&path, &mut output) else { continue };
        opened_once += 1;
        let mut session = Session::new(&opened, &UNICODE, (100, 30));
        for keys in ["", "jjjj", "2jjj", "3j", "w", "t", "%", "s"] {
            session.text_after(keys);
        }
    }
    assert!(opened_once > 50, "{opened_once}");
}

#[test]
fn keys_quit() {
    let (_directory, path) = example();
    let opened = open(&path);
    for (keys, is_over) in
        [("j", false), ("q", true), ("<ctrl-c>", true), ("/q", false), ("?q", true), ("?x", false)]
    {
        let mut session = Session::new(&opened, &UNICODE, (100, 30));
        session.press(keys);
        assert_eq!(session.explorer.is_over(), is_over, "{keys}");
    }
}

#[test]
fn explorer_needs_a_terminal() {
    let (_directory, path) = example();
    for more in [&[][..], &["--json"]] {
        let printed = run(80, &[&["explore", &path], more].concat());
        assert_eq!((printed.status, printed.results.as_str()), (Status::Failed, ""));
        assert!(
            printed.messages.contains("replay-show tree") || printed.messages.contains("tree, ranks"),
            "{}",
            printed.messages
        );
    }
}

//! `replay-show serve` on an experiment: windows over HTTP are those of the report.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use replay::Semantics;
use serde_json::Value;
use show::opened::Opened;
use show::output::{Output, OutputArgs, Surroundings};
use show::serve::{End, Server};

use crate::support::tables::{Details, Row};
use crate::support::{analyze, archive, copy, fresh};

/// The status and body of a response.
fn get(port: u16, path: &str) -> (String, Value) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap())
}

/// The rows of a table of a response, as those of a report.
fn rows(table: &Value) -> Vec<Row> {
    let columns = table.as_object().unwrap();
    let count = columns.values().next().and_then(Value::as_array).map_or(0, Vec::len);
    let number = |value: &Value| match value {
        Value::Null => i128::from(u32::MAX),
        value => value.as_i64().map(i128::from).or(value.as_u64().map(i128::from)).unwrap(),
    };
    let row = |at: usize| columns.iter().map(|(name, values)| (name.clone(), number(&values[at]))).collect();
    (0..count).map(row).collect()
}

/// The rows of a window in a table of the report, without the number of the window.
fn of_window(rows: &[Row], window: usize) -> Vec<Row> {
    let own = rows.iter().filter(|row| row["window"] == window as i128).cloned();
    own.map(|mut row| {
        row.remove("window");
        row
    })
    .collect()
}

#[test]
fn windows_over_http_are_those_of_the_report() {
    let directory = fresh();
    let experiment = directory.path().join("experiment");
    copy(&archive("imbalance_chain.4"), &experiment);
    let report = experiment.join("trace.cubex");
    analyze(&experiment, &report, Semantics::Corrected).unwrap();
    let (mut results, mut messages) = (Vec::new(), Vec::new());
    let surroundings = Surroundings::default();
    let mut output = Output::new(&OutputArgs::default(), &surroundings, &mut results, &mut messages);
    let opened = Opened::open(&experiment, &mut output).unwrap();
    let server = Server::start(&opened, &experiment, None, 0).unwrap();
    assert_eq!(server.why_no_windows(), None);
    let (port, path) = (server.port().unwrap(), server.path());
    let running = thread::spawn(move || server.run(Duration::from_secs(2)).unwrap());
    let details = Details::open(&report);
    let [windows, calls, messages] =
        ["windows", "window_calls", "window_messages"].map(|name| details.rows(name).unwrap());
    let locations = details.lists("windows", "locations");
    assert!(!windows.is_empty() && calls.len() > 20 && messages.len() > 5);
    for (number, (window, locations)) in windows.iter().zip(&locations).enumerate() {
        let (begin, end) = (window["begin"], window["end"]);
        let list = locations.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let (status, body) =
            get(port, &format!("{path}window.json?begin={begin}&end={end}&locations={list}"));
        assert_eq!(status, "HTTP/1.1 200 OK", "{body}");
        assert_eq!(body["schema"], "replay-window/1");
        assert_eq!(body["ticks_per_second"], details.manifest.ticks_per_second);
        assert_eq!((&body["begin"], &body["end"]), (&Value::from(begin as i64), &Value::from(end as i64)));
        assert_eq!(body["locations"], Value::from(locations.clone()));
        assert_eq!((&body["dropped_below"], &body["complete"]["window_calls"]), (&0.into(), &true.into()));
        assert_eq!(rows(&body["window_calls"]), of_window(&calls, number));
        assert_eq!(rows(&body["window_messages"]), of_window(&messages, number));
    }
    let (status, body) = get(port, &format!("{path}window.json?begin=0&end=10&locations=9"));
    assert_eq!(
        (status.as_str(), body["error"].as_str()),
        ("HTTP/1.1 400 Bad Request", Some("no location 9: the report has 4"))
    );
    assert_eq!(running.join().unwrap(), End::Idle);
}

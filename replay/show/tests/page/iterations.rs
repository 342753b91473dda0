//! Iterations of the main loop in pages: as tables, as far as there is room, and never those that cannot be.

use details::manifest::{IterationCause, Kind, MainLoop, Manifest, member};
use details::{Column, Table, Values};
use serde_json::Value;

use super::Made;
use crate::support::example::{Names, leb128};

type Members = Vec<(String, Vec<u8>)>;

fn table(name: &str, columns: Vec<(&str, Values)>) -> Table {
    let columns = columns.into_iter().map(|(name, values)| Column::new(name, None, values));
    Table { name: name.into(), columns: columns.collect() }
}

/// Numbers that no codec makes much smaller.
fn noise(count: u32) -> impl Iterator<Item = u32> {
    (1..=count).map(|at| at.wrapping_mul(2_654_435_761) >> 12)
}

/// A loop of so many iterations, in which rank 2 makes others wait in the second one.
fn main_loop(iterations: u64) -> MainLoop {
    let cause =
        |location| IterationCause { iteration: 2, location, cnode: 4, ticks: 10.0, ticks_of_run: 40.0 };
    MainLoop {
        iterations,
        block: 1,
        locations: 4,
        metrics: vec!["time".into(), "mpi_latesender".into(), "not_in_the_report".into()],
        kinds: vec![Kind { iterations, representative: 1 }],
        causes: vec![cause(2), cause(4000)],
        map_span: 2,
        map_block: 2,
        ..MainLoop::default()
    }
}

/// The map of two metrics: so many groups, and blocks of iterations.
fn map(groups: u8, blocks: u32) -> Table {
    let mut values = Vec::new();
    noise(blocks).for_each(|it| leb128(u64::from(it + 1) << 1, &mut values));
    let rows = (0..2).flat_map(|metric| (0..groups).map(move |group| (metric, group)));
    let (metrics, of_group): (Vec<u8>, Vec<u8>) = rows.unzip();
    let values = Values::Bytes(vec![values; metrics.len()]);
    table(
        "series_map",
        vec![("metric", Values::U8(metrics)), ("group", Values::U8(of_group)), ("values", values)],
    )
}

fn tables(iterations: u32) -> [Table; 3] {
    let times = |shift: i64| Values::I64((1..=iterations).map(|it| 1024 * i64::from(it) + shift).collect());
    let rows = usize::try_from(iterations).unwrap();
    // Metric by metric: nothing is known of the second one in the last iteration.
    let metrics = (0..3).flat_map(|metric| vec![metric; if metric == 1 { rows - 1 } else { rows }]);
    let metrics: Vec<u8> = metrics.collect();
    let numbers = (1..=iterations).chain(1..iterations).chain(1..=iterations).collect();
    let values = || Values::I64(noise(metrics.len() as u32).map(i64::from).collect());
    [
        table(
            "series",
            vec![
                ("iteration", Values::U32((1..=iterations).collect())),
                ("begin", times(0)),
                ("end", times(1)),
                ("elapsed", times(2)),
                ("locations", Values::U32(vec![4; rows])),
                ("most_computation", times(3)),
                ("most_computation_location", Values::U32(vec![2; rows])),
                ("word", Values::U32(vec![0; rows])),
                ("kind", Values::U32(vec![0; rows])),
                ("flags", Values::U8(vec![0; rows])),
            ],
        ),
        table(
            "series_values",
            vec![
                ("metric", Values::U8(metrics.clone())),
                ("iteration", Values::U32(numbers)),
                ("sum", values()),
                ("fraction", Values::U64(vec![0; metrics.len()])),
                ("least", values()),
                ("most", values()),
                ("location", Values::U32(vec![3; metrics.len()])),
            ],
        ),
        map(2, iterations.div_ceil(2)),
    ]
}

/// Removes the loop of the example.
fn remove(members: &mut Members) {
    let mut manifest = Manifest::parse(&members[0].1).unwrap();
    manifest.main_loop = None;
    members[0].1 = manifest.to_bytes();
    members.retain(|(name, _)| !name.starts_with("replay.series"));
}

/// Adds the loop to a report, in the place of that of the example.
fn add(members: &mut Members, iterations: u32, change: impl FnOnce(&mut MainLoop, &mut [Table; 3])) {
    let (mut main_loop, mut tables) = (main_loop(iterations.into()), tables(iterations));
    change(&mut main_loop, &mut tables);
    remove(members);
    let mut manifest = Manifest::parse(&members[0].1).unwrap();
    manifest.main_loop = Some(main_loop);
    members[0].1 = manifest.to_bytes();
    for table in tables {
        members.push((member(&table.name), details::write(&table).unwrap()));
    }
    for (_, bytes) in members {
        // A member must not have a size that is a multiple of a block of the archive.
        if bytes.len().is_multiple_of(512) {
            bytes.push(if bytes.starts_with(b"{") { b'\n' } else { 0 });
        }
    }
}

fn block<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let behind = page.split_once(&format!("id=\"d-{name}\">"))?.1;
    behind.split_once("</script>").map(|(text, _)| text)
}

#[test]
fn iterations_are_in_the_page() {
    let made = Made::new(&Names::default(), |members| add(members, 5, |_, _| {}));
    let (printed, page) = made.page(&[]);
    assert_eq!(printed.messages, "");
    let main_loop: Value = serde_json::from_str(block(&page, "main_loop").unwrap()).unwrap();
    assert_eq!((&main_loop["iterations"], &main_loop["map_block"]), (&5.into(), &2.into()));
    assert_eq!(main_loop["kinds"][0]["representative"], 1);
    // Whoever does not exist is no cause.
    let causes = main_loop["causes"].as_array().unwrap();
    assert_eq!((causes.len(), &causes[0]["location"]), (1, &2.into()));
    for name in ["series", "series_values", "series_map"] {
        assert!(block(&page, name).is_some(), "{name}");
    }
}

#[test]
fn reports_without_a_main_loop_have_none_in_the_page() {
    let page = Made::new(&Names::default(), remove).page(&[]).1;
    for name in ["main_loop", "series", "series_values", "series_map"] {
        assert!(block(&page, name).is_none(), "{name}");
    }
}

#[test]
fn loops_that_contradict_their_tables_are_left_out() {
    type Damage = fn(&mut MainLoop, &mut [Table; 3]);
    let wrong: [(&str, Damage); 8] = [
        ("impossible", |it, _| it.block = 0),
        ("impossible", |it, _| it.map_span = 0),
        ("impossible", |it, _| it.map_block = 0),
        ("impossible", |it, _| it.iterations = u64::MAX),
        ("no iteration has its number", |it, _| it.iterations = 4),
        ("column kind: number 0", |it, _| it.kinds.clear()),
        ("not in order", |_, tables| tables[0].columns[0].values = Values::U32(vec![1, 2, 2, 3, 4])),
        ("column most_computation_location", |_, tables| {
            tables[0].columns[6].values = Values::U32(vec![9; 5]);
        }),
    ];
    for (message, change) in wrong {
        let made = Made::new(&Names::default(), |members| add(members, 5, change));
        let (printed, page) = made.page(&[]);
        assert!(printed.messages.contains(message), "{message}: {}", printed.messages);
        assert!(block(&page, "main_loop").is_none() && block(&page, "waits").is_some(), "{message}");
    }
}

#[test]
fn iterations_are_shown_without_tables_that_are_wrong() {
    type Damage = fn(&mut [Table; 3]);
    let wrong: [(&str, &str, Damage); 4] = [
        ("series_values", "column location", |it| it[1].columns[6].values = Values::U32(vec![4; 14])),
        ("series_values", "no iteration has its number", |it| {
            it[1].columns[1].values = Values::U32(vec![6; 14]);
        }),
        ("series_map", "a group without locations", |it| {
            it[2].columns[1].values = Values::U8(vec![0, 1, 0, 2])
        }),
        ("series_map", "bytes behind the last bin", |it| {
            it[2].columns[2].values = Values::Bytes(vec![vec![0, 2, 0]; 4]);
        }),
    ];
    for (name, message, change) in wrong {
        let made = Made::new(&Names::default(), |members| add(members, 5, |_, tables| change(tables)));
        let (printed, page) = made.page(&[]);
        assert!(printed.messages.contains(message), "{message}: {}", printed.messages);
        let others = ["main_loop", "series", "series_values", "series_map"];
        for other in others {
            assert_eq!(block(&page, other).is_none(), other == name, "{message}: {other}");
        }
    }
}

#[test]
fn the_map_is_left_out_first() {
    const ITERATIONS: u32 = 8000;
    const STEPS: usize = 50;
    let made = Made::new(&Names::default(), |members| {
        add(members, ITERATIONS, |main_loop, tables| {
            (main_loop.map_span, main_loop.map_block) = (1, 1);
            tables[2] = map(4, ITERATIONS);
        });
    });
    let (printed, whole) = made.page(&[]);
    assert_eq!(printed.messages, "");
    let sizes = ["series", "series_values", "series_map"].map(|name| block(&whole, name).unwrap().len());
    let mut seen = [false; 4];
    for step in 0..=STEPS {
        let most = whole.len() * 4 * step / STEPS;
        let (printed, page) = made.page(&["--max-size", &most.to_string()]);
        let has = ["series", "series_values", "series_map"].map(|name| block(&page, name).is_some());
        let part = block(&page, "series_map").is_some_and(|map| map.len() < sizes[2]);
        let said = |what: &str| printed.messages.contains(what);
        assert_eq!(part, said("the map of locations over iterations: those of the 1 of 2 metrics"), "{step}");
        assert!(has[1] || !has[2], "values go after the map: {step}");
        assert!(has[0] || !has[1], "values without iterations: {step}");
        assert_eq!(has[0], block(&page, "main_loop").is_some());
        assert_eq!(!has[0], said("iterations: the table series does not fit into the page"), "{step}");
        assert_eq!(
            has[0] && !has[2],
            said("the map of locations over iterations: it does not fit"),
            "{step}"
        );
        seen[has.iter().filter(|&&it| it).count()] = true;
    }
    assert_eq!(seen, [true; 4]);
}

#[test]
fn flipped_bytes_of_iterations_do_no_harm() {
    for table in 1..=3 {
        for step in 0..60 {
            let made = Made::new(&Names::default(), |members| {
                add(members, 40, |_, _| {});
                let place = members.len() - table;
                let bytes = &mut members[place].1;
                let at = step * bytes.len() / 60;
                bytes[at] ^= 1 << (step % 8);
            });
            assert!(made.page(&[]).1.contains("id=\"first\""), "{table}");
        }
    }
}

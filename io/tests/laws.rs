//! What holds for whatever was recorded (io.md 7.3).

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Begin, Extent, FileFacts, FileTransfers, Files, Findings, Id, Kind, Layer, Looked, Measured, Model,
    Observed, Opening, Parts, Pointer, SetView, Settings, Simple, Sums, Thresholds, Walk, Walked, Whence,
    estimates, heat, look_at_transfers, phases, picture, read_systems, script, tsv,
};
use proptest::prelude::*;

/// Something that happens at a rank.
#[derive(Clone, Debug)]
enum Event {
    Create { handle: u64, file: u32, append: bool, has_views: bool },
    Duplicate(u64, u64),
    Destroy(u64),
    Seek(u64, i64, bool, Option<u64>),
    SetView(u64, u64, Option<u64>, usize),
    Begin(Id, Begin),
    Complete(Id, u64, Option<u64>),
    Cancel(Id),
    Flush(u64),
    Room(u64),
}

const TYPES: [&str; 7] = [
    "b8",
    "v(2,1,24,b8)",
    "r(0,64,x(4@8,4@0;b1))",
    "v(5000,1,16,b8)",
    "c(0,b1)",
    "nonsense",
    "r(-8,9223372036854775807,b8)",
];

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..100_u64, 2 => (0..40_u64).prop_map(|it| it * 4096), 1 => Just((1 << 63) - 1), 1 => Just(u64::MAX)]
}

fn handle() -> impl Strategy<Value = u64> {
    0..3_u64
}

fn id() -> impl Strategy<Value = Id> {
    (0..2_u64, handle(), 0..2_u64).prop_map(|(location, handle, number)| Id { location, handle, number })
}

fn pointer() -> impl Strategy<Value = Pointer> {
    prop_oneof![Just(Pointer::Explicit), Just(Pointer::Individual), Just(Pointer::Shared)]
}

fn begin() -> impl Strategy<Value = Begin> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), pointer());
    let numbers = (proptest::option::of(number()), proptest::option::of(number()), 0..1000_u64, 0..40_u64);
    (flags, numbers).prop_map(
        |((reads, collective, non_blocking, pointer), (offset, requested, begin, tick))| Begin {
            kind: if reads { Kind::Read } else { Kind::Write },
            collective,
            non_blocking,
            pointer,
            offset,
            requested,
            begin,
            tick,
            epoch: tick / 10,
            caller: io_model::Caller::default(),
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let some = || proptest::option::of(number());
    prop_oneof![
        4 => (handle(), 0..3_u32, any::<bool>(), any::<bool>())
            .prop_map(|(handle, file, append, has_views)| Event::Create { handle, file, append, has_views }),
        1 => (handle(), handle()).prop_map(|(old, new)| Event::Duplicate(old, new)),
        1 => handle().prop_map(Event::Destroy),
        2 => (handle(), any::<i64>(), any::<bool>(), some()).prop_map(|(a, b, c, d)| Event::Seek(a, b, c, d)),
        2 => (handle(), number(), some(), 0..TYPES.len()).prop_map(|(a, b, c, d)| Event::SetView(a, b, c, d)),
        8 => (id(), begin()).prop_map(|(id, begin)| Event::Begin(id, begin)),
        8 => (id(), number(), some()).prop_map(|(a, b, c)| Event::Complete(a, b, c)),
        1 => id().prop_map(Event::Cancel),
        1 => handle().prop_map(Event::Flush),
        1 => handle().prop_map(Event::Room),
    ]
}

fn walked(rank: u32, events: &[Event], gap: u64) -> Walked {
    let mut walk =
        Walk::new(rank, Settings { gap, transfers: 1 << 20, small_bytes: 1 << 20, has_exact_streams: true });
    for event in events {
        match event {
            &Event::Create { handle, file, append, has_views } => {
                let opening = Opening {
                    file,
                    layer: if file == 0 { Layer::Mpi } else { Layer::Posix },
                    members: Some(2),
                    append,
                    size: None,
                    direct: false,
                    hints: Some("cb_nodes=1"),
                    has_views,
                    is_nested: false,
                    was_open: false,
                };
                walk.create(handle, &opening);
            }
            &Event::Duplicate(old, new) => walk.duplicate(old, new),
            &Event::Destroy(handle) => walk.destroy(handle),
            &Event::Seek(handle, request, start, result) => {
                let whence = if start { Whence::Start } else { Whence::Current };
                walk.seek(handle, request, whence, result);
            }
            &Event::SetView(handle, displacement, etype, text) => {
                walk.set_view(
                    handle,
                    &SetView { displacement, etype, text: Some(TYPES[text]), ..SetView::default() },
                );
            }
            Event::Begin(id, begin) => walk.begin(*id, begin),
            &Event::Complete(id, end, moved) => walk.complete(id, end, moved),
            &Event::Cancel(id) => walk.cancel(id),
            &Event::Flush(handle) => walk.flush(handle),
            &Event::Room(handle) => walk.set_manner(handle, |manner| manner.preallocated = true),
        }
    }
    walk.finish()
}

/// What transfers tell: of all files together, or of each by itself.
fn looked(all: &mut [(u32, Walked)], facts: &BTreeMap<u32, FileFacts>, is_apart: bool) -> Looked {
    all.sort_by_key(|(rank, _)| *rank);
    let mut files: BTreeMap<u32, FileTransfers> = BTreeMap::new();
    for (file, list) in all.iter_mut().flat_map(|(_, it)| std::mem::take(&mut it.transfers)) {
        files.entry(file).or_default().lists.push(list);
    }
    files.iter_mut().for_each(|(file, it)| it.facts = facts[file].clone());
    let extents: Vec<Extent> = files.iter().map(|(file, it)| it.extent(*file)).collect();
    let heat = heat(&extents, (1000, all.len() as u64));
    if !is_apart {
        return look_at_transfers(&files, &Thresholds::default(), heat);
    }
    let mut looked = look_at_transfers(&BTreeMap::new(), &Thresholds::default(), heat.clone());
    for (file, it) in files {
        let own = look_at_transfers(&BTreeMap::from([(file, it)]), &Thresholds::default(), heat.clone());
        for (call, sums) in &own.sums {
            let all: &mut Sums = looked.sums.entry(*call).or_default();
            all.calls
                .as_flattened_mut()
                .iter_mut()
                .zip(sums.calls.as_flattened())
                .for_each(|(all, own)| *all += own);
        }
        looked.merge(own);
    }
    looked
}

/// The model of a run. Ranks come in order, or the other way round.
fn model(ranks: &[Vec<Event>], gap: u64, backwards: bool) -> Model {
    let walked = |(rank, events): (u32, &Vec<Event>)| (rank, walked(rank, events, gap));
    let mut all: Vec<(u32, Walked)> = (0..).zip(ranks).map(walked).collect();
    if backwards {
        all.reverse();
    }
    let mut simple: Vec<Simple> = all.iter().flat_map(|(_, it)| it.simple.clone()).collect();
    if backwards {
        simple.reverse();
    }
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    simple.iter().for_each(|it| _ = users.entry(it.file).or_default().insert(it.rank));
    let (mut facts, mut findings, mut observed) = (BTreeMap::new(), Findings::default(), Observed::default());
    for (rank, it) in &mut all {
        findings.merge(&it.findings);
        it.facts
            .iter()
            .for_each(|(file, its)| facts.entry(*file).or_insert_with(FileFacts::default).merge(its));
        observed.add(*rank, it);
    }
    let looked = looked(&mut all, &facts, backwards);
    observed.add_requests(&mut looked.clone());
    findings.merge(&looked.findings);
    // None counts twice, and what is unknown not at all.
    let concerned: u64 = looked.sums.values().flat_map(|it| it.calls.as_flattened()).sum();
    assert!(concerned <= facts.values().flat_map(|it| &it.accesses).map(|it| it.operations).sum());
    let files = Files::new(["f", "o.1", "o.2"].map(str::to_owned).to_vec(), &users);
    Model::new(Parts {
        busiest: BTreeMap::new(),
        bottoms: BTreeMap::new(),
        resolution: 1_000_000,
        run: 1000,
        phases: phases(simple, &files),
        files,
        facts,
        reads: looked.reads,
        findings,
        heat: looked.heat,
    })
}

/// Bytes and operations, of all files.
fn totals(model: &Model) -> (u128, u64) {
    let accesses = || model.files.values().flat_map(|file| &file.facts.accesses);
    (accesses().map(|it| u128::from(it.bytes)).sum(), accesses().map(|it| it.operations).sum())
}

fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn runs() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let rank = proptest::collection::vec(event(), 0..80).prop_map(|mut events| {
        // Otherwise hardly anything is ever open.
        events.insert(0, Event::Create { handle: 0, file: 0, append: false, has_views: true });
        events.insert(1, Event::Create { handle: 1, file: 1, append: false, has_views: false });
        events
    });
    proptest::collection::vec(rank, 1..4)
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_counted_twice(ranks in runs()) {
        let model = model(&ranks, 4, false);
        let (bytes, operations) = totals(&model);
        prop_assert_eq!(model.phases.iter().map(|it| it.operations).sum::<u64>(), operations);
        prop_assert_eq!(saturated(model.phases.iter().map(|it| u128::from(it.weight)).sum()), saturated(bytes));
        prop_assert_eq!(model.bytes(), saturated(bytes));
        let sum = |values: &mut dyn Iterator<Item = u64>| values.fold(0, u64::saturating_add);
        let times = sum(&mut model.phases.iter().map(|it| it.time));
        prop_assert_eq!(sum(&mut model.families.iter().map(|it| it.time)), times);
        prop_assert_eq!(model.families.iter().map(|it| it.count).sum::<u64>(), model.phases.len() as u64);
        for phase in &model.phases {
            prop_assert_eq!(sum(&mut phase.positions.iter().map(|it| it.bytes)), phase.weight);
        }
    }

    #[test]
    fn the_gap_changes_neither_bytes_nor_operations(ranks in runs()) {
        let totals = |gap| {
            let model = model(&ranks, gap, false);
            (model.bytes(), model.phases.iter().map(|it| it.operations).sum::<u64>())
        };
        prop_assert_eq!(totals(0), totals(4));
        prop_assert_eq!(totals(u64::MAX), totals(4));
    }

    #[test]
    fn no_order_of_ranks_shows(ranks in runs()) {
        prop_assert_eq!(model(&ranks, 4, true).to_json(), model(&ranks, 4, false).to_json());
    }

    #[test]
    fn what_is_written_reads_back(ranks in runs()) {
        let mut model = model(&ranks, 4, false);
        let table = "system\tapi\top\tnp\tt\tMiB_s\nA\tMPIIO\tw\t1\t64\t3.7\nB\tPOSIX\tr\t1\t64\t0.3\n";
        let measured: Vec<Measured> = read_systems("a.tsv", table).unwrap();
        model.estimates = estimates(&model.families, &model.phases, &measured, false);
        prop_assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }

    #[test]
    fn tables_scripts_and_pictures_have_their_form(ranks in runs()) {
        let model = model(&ranks, 4, false);
        let table = tsv(&model);
        prop_assert_eq!(table.lines().count(), model.families.len() + 1);
        prop_assert!(table.lines().all(|line| line.split('\t').count() == 34));
        let lines = script(&model);
        prop_assert!(lines.lines().skip(4).all(|line| line.is_empty() || line.starts_with('#') || line.ends_with("-i 3 -o \"$FILE\"")));
        let svg = picture(&model).unwrap();
        prop_assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        prop_assert_eq!(svg.matches("<rect").count(), svg.matches("/>").count());
    }
}

#[test]
fn other_versions_are_refused() {
    let text = Model::new(Parts::default()).to_json();
    assert!(Model::from_json(&text).is_ok());
    let error = Model::from_json(&text.replace("\"replay_io\":1", "\"replay_io\":2")).unwrap_err();
    assert_eq!(error, "version 2 of the model of I/O, where 1 is known");
    assert!(Model::from_json("{").is_err());
}

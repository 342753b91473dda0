//! One record of every kind, with a different value in each field. Its references exist: 0 and 1 of each
//! kind.

use model::{
    CollectiveOp, GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm, RegionRole,
};
use otf2::{
    Attribute, Definition, Event, IdMap, IdPair, IoParadigmProperty, MetricValue, Timestamp, UNDEFINED,
    Value, ValueType,
};

/// Values of a metric: one of each type.
const METRICS: &[MetricValue] = &[
    MetricValue { kind: ValueType::INT64, bits: u64::MAX - 4 },
    MetricValue { kind: ValueType::UINT64, bits: 1 << 40 },
    MetricValue { kind: ValueType::DOUBLE, bits: 0x3ff8_0000_0000_0000 },
];

const ARGUMENTS: &[u32] = &[1, 0, 1];

/// Types of attributes and values, `NONE` left out.
const VALUE_TYPES: std::ops::RangeInclusive<u8> = 1..=25;

/// An attribute of each type; the definition of the same number has that type.
pub(crate) fn attributes() -> Vec<Attribute> {
    let value = |kind| match ValueType(kind) {
        ValueType::LOCATION => Value::new(ValueType::LOCATION, 1 << 32),
        ValueType::DOUBLE => Value::new(ValueType::DOUBLE, 1.5f64.to_bits()),
        kind => Value::new(kind, 1),
    };
    VALUE_TYPES.map(|kind| Attribute { attribute: kind.into(), value: value(kind) }).collect()
}

/// Number of events that [`events`] must have.
pub(crate) const EVENT_KINDS: usize = 83;
/// Number of global definitions of different kinds.
pub(crate) const GLOBAL_KINDS: usize = 38;
/// Number of local definitions of different kinds.
pub(crate) const LOCAL_KINDS: usize = 36;

/// An event of every kind.
pub(crate) fn events() -> Vec<Event<'static>> {
    vec![
        Event::BufferFlush { stop_time: Timestamp(9000) },
        Event::MeasurementOnOff { measurement_mode: MeasurementMode::OFF },
        Event::Enter { region: 1 },
        Event::Leave { region: 1 },
        Event::MpiSend { receiver: 3668340011, communicator: 1, msg_tag: 41475558, msg_length: 51844448 },
        Event::MpiIsend {
            receiver: 3041712726,
            communicator: 1,
            msg_tag: 72582228,
            msg_length: 356272338103849952,
            request_id: 9,
        },
        Event::MpiIsendComplete { request_id: 6795355569912 },
        Event::MpiIrecvRequest { request_id: 29198793464 },
        Event::MpiRecv {
            sender: 1788458156,
            communicator: 1,
            msg_tag: 134795566,
            msg_length: 12036054880848365862,
        },
        Event::MpiIrecv {
            sender: 1161830871,
            communicator: 1,
            msg_tag: 165902235,
            msg_length: 11552104468851,
            request_id: 18,
        },
        Event::MpiRequestTest { request_id: 197008904 },
        Event::MpiRequestCancelled { request_id: 810069 },
        Event::MpiCollectiveBegin {},
        Event::MpiCollectiveEnd {
            collective_op: CollectiveOp(4),
            communicator: 1,
            root: 228115573,
            size_sent: 4001105359564721,
            size_received: 24,
        },
        Event::OmpFork { number_of_requested_threads: 259222243 },
        Event::OmpJoin {},
        Event::OmpAcquireLock { lock_id: 1053090, acquisition_order: 2950289027 },
        Event::OmpReleaseLock { lock_id: 290328912, acquisition_order: 1174600 },
        Event::OmpTaskCreate { task_id: 30 },
        Event::OmpTaskSwitch { task_id: 21065602266730 },
        Event::OmpTaskComplete { task_id: 84941944623 },
        Event::Metric { metric: 1, metric_values: METRICS.into() },
        Event::ParameterString { parameter: 0, string: 1 },
        Event::ParameterInt { parameter: 1, value: -34000102 },
        Event::ParameterUnsignedInt { parameter: 2, value: 11643393128411363039 },
        Event::RmaWinCreate { win: 1 },
        Event::RmaWinDestroy { win: 1 },
        Event::RmaCollectiveBegin {},
        Event::RmaCollectiveEnd {
            collective_op: CollectiveOp(2),
            sync_level: 383648919,
            win: 1,
            root: 1539132,
            bytes_sent: 39,
            bytes_received: 414755588,
        },
        Event::RmaGroupSync { sync_level: 1660642, win: 1, group: 1 },
        Event::RmaRequestLock { win: 1, remote: 4112119898, lock_id: 1914963817308193495, lock_type: 1 },
        Event::RmaAcquireLock { win: 1, remote: 3485492613, lock_id: 122104045396, lock_type: 1 },
        Event::RmaTryLock { win: 1, remote: 2858865328, lock_id: 5232703935550177285, lock_type: 1 },
        Event::RmaReleaseLock { win: 1, remote: 2232238043, lock_id: 35335848963547 },
        Event::RmaSync { win: 1, remote: 2146684, sync_type: 1 },
        Event::RmaWaitChange { win: 1 },
        Event::RmaPut { win: 1, remote: 570288934, bytes: 11250731375974360216, matching_id: 57 },
        Event::RmaGet { win: 1, remote: 601395603, bytes: 40092597862486, matching_id: 60 },
        Event::RmaAtomic {
            win: 1,
            remote: 632502273,
            atomic_type: 1,
            bytes_sent: 63,
            bytes_received: 2850178704830799621,
            matching_id: 11307471668335081,
        },
        Event::RmaOpCompleteBlocking { win: 1, matching_id: 66 },
        Event::RmaOpCompleteNonBlocking { win: 1, matching_id: 177847196556 },
        Event::RmaOpTest { win: 1, matching_id: 705084501 },
        Event::RmaOpCompleteRemote { win: 1, matching_id: 69 },
        Event::ThreadFork { model: Paradigm::OPENMP, number_of_requested_threads: 2875746 },
        Event::ThreadJoin { model: Paradigm::OPENMP },
        Event::ThreadTeamBegin { thread_team: 1 },
        Event::ThreadTeamEnd { thread_team: 1 },
        Event::ThreadAcquireLock { model: Paradigm::OPENMP, lock_id: 2997257, acquisition_order: 1514187059 },
        Event::ThreadReleaseLock { model: Paradigm::OPENMP, lock_id: 3118767, acquisition_order: 887559774 },
        Event::ThreadTaskCreate { thread_team: 1, creating_thread: 819142288, generation_number: 3240278 },
        Event::ThreadTaskSwitch { thread_team: 1, creating_thread: 260932489, generation_number: 850248957 },
        Event::ThreadTaskComplete { thread_team: 1, creating_thread: 3361788, generation_number: 3929272500 },
        Event::ThreadCreate { thread_contingent: 1, sequence_count: 3785393592353405746 },
        Event::ThreadBegin { thread_contingent: 1, sequence_count: 14960654822720261 },
        Event::ThreadWait { thread_contingent: 1, sequence_count: 87 },
        Event::ThreadEnd { thread_contingent: 1, sequence_count: 233590347715 },
        Event::CallingContextEnter { calling_context: 1, unwind_distance: 3604809 },
        Event::CallingContextLeave { calling_context: 1 },
        Event::CallingContextSample {
            calling_context: 1,
            unwind_distance: 2676017930,
            interrupt_generator: 1,
        },
        Event::IoCreateHandle { handle: 1, mode: 1, creation_flags: 3726319, status_flags: 2049390645 },
        Event::IoDestroyHandle { handle: 1 },
        Event::IoDuplicateHandle { old_handle: 1, new_handle: 1, status_flags: 974675633 },
        Event::IoSeek { handle: 1, offset_request: -95000285, whence: 1, offset_result: 3928837 },
        Event::IoChangeStatusFlags { handle: 1, status_flags: 3969340 },
        Event::IoDeleteFile { io_paradigm: 1, file: 1 },
        Event::IoOperationBegin {
            handle: 1,
            mode: 1,
            operation_flags: 4090851,
            bytes_request: 102,
            matching_id: 1067995641,
        },
        Event::IoOperationTest { handle: 1, matching_id: 4212361 },
        Event::IoOperationIssued { handle: 1, matching_id: 105 },
        Event::IoOperationComplete {
            handle: 1,
            bytes_result: 4720608479876011872,
            matching_id: 18613837977105441,
        },
        Event::IoOperationCancelled { handle: 1, matching_id: 108 },
        Event::IoAcquireLock { handle: 1, lock_type: 1 },
        Event::IoReleaseLock { handle: 1, lock_type: 1 },
        Event::IoTryLock { handle: 1, lock_type: 1 },
        Event::ProgramBegin { program_name: 1, program_arguments: ARGUMENTS.into() },
        Event::ProgramEnd { exit_status: -113000339 },
        Event::NonBlockingCollectiveRequest { request_id: 114 },
        Event::NonBlockingCollectiveComplete {
            collective_op: CollectiveOp(13),
            communicator: 1,
            root: 4698403,
            size_sent: 117,
            size_received: 4779410,
            request_id: 10072746118663351747,
        },
        Event::CommCreate { communicator: 1 },
        Event::CommDestroy { communicator: 1 },
        Event::MpiProbe { sender: 704712376, communicator: 1, tag: 1254635656, message_id: 82903337952937 },
        Event::MpiMrecv { message_id: 123, msg_length: 1285742325 },
        Event::MpiImrecvRequest { message_id: 5062934, request_id: 126 },
        Event::MpiImrecv { request_id: 5655823367398617998, msg_length: 22267021131490622 },
    ]
}

/// Mapping tables and clock offsets of location 1, and another definition.
pub(crate) fn local_definitions() -> Vec<Definition<'static>> {
    let offset =
        |time, offset| Definition::ClockOffset { time: Timestamp(time), offset, standard_deviation: 0.5 };
    vec![
        Definition::MappingTable { mapping_type: 3, id_map: IdMap::Dense([1, 0].as_slice().into()) },
        Definition::MappingTable { mapping_type: 6, id_map: IdMap::Sparse(PAIRS.into()) },
        offset(1000, -500),
        offset(9000, 1500),
    ]
}

const PAIRS: &[IdPair] = &[IdPair { local: 1, global: 0 }, IdPair { local: 5, global: 1 }];

const PROPERTIES: &[IoParadigmProperty] = &[IoParadigmProperty { property: 0, value: VALUE }];

const VALUE: Value = Value { kind: ValueType::STRING, bits: 3 };

const NUMBER: Value = Value { kind: ValueType::UINT64, bits: 0x0102_0304_0506_0708 };

/// Definitions of every kind, two of most. String *n* is *n* in decimal, except that 0 is empty.
pub(crate) fn definitions() -> Vec<Definition<'static>> {
    let mut all = vec![Definition::ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: 500,
        trace_length: 1 << 40,
        realtime_timestamp: 1_700_000_000_000_000_000,
    }];
    let strings = ["", "1", "2", "3", "4", "5"];
    all.extend(
        (0..)
            .zip(strings)
            .map(|(reference, string)| Definition::String { reference, string: string.as_bytes() }),
    );
    for paradigm in [Paradigm::MPI, Paradigm::OPENMP] {
        all.push(Definition::Paradigm {
            paradigm,
            name: 1,
            paradigm_class: u8::from(paradigm == Paradigm::OPENMP),
        });
        all.push(Definition::ParadigmProperty { paradigm, property: 0, value: VALUE });
    }
    for (first, second) in numbered(0).into_iter().zip(numbered(1)) {
        all.extend([first, second]);
    }
    all.extend(VALUE_TYPES.map(|kind| Definition::Attribute {
        reference: kind.into(),
        name: u32::from(kind) % 5 + 1,
        value_type: ValueType(kind),
        description: 2,
    }));
    all.push(Definition::Parameter { reference: 2, name: 1, parameter_type: 2 });
    all.push(Definition::InterComm {
        reference: 2,
        name: 1,
        group_a: 0,
        group_b: 1,
        common_communicator: 1,
        flags: 1,
    });
    all
}

/// The definitions of each kind with this number.
fn numbered(reference: u32) -> Vec<Definition<'static>> {
    let earlier = reference.checked_sub(1).unwrap_or(UNDEFINED);
    let byte = u8::try_from(reference).unwrap();
    let location = u64::from(reference) << 32;
    let members = [[0, 1 << 32].as_slice(), [1].as_slice()];
    vec![
        Definition::IoParadigm {
            reference: byte,
            identification: 2,
            name: 3,
            io_paradigm_class: 1,
            io_paradigm_flags: 1,
            properties: PROPERTIES.into(),
        },
        Definition::SystemTreeNode { reference, name: 1 + reference, class_name: 3, parent: earlier },
        Definition::SystemTreeNodeProperty { system_tree_node: reference, name: 4, value: VALUE },
        Definition::SystemTreeNodeDomain { system_tree_node: reference, system_tree_domain: byte },
        Definition::LocationGroup {
            reference,
            name: 2,
            location_group_type: LocationGroupType::PROCESS,
            system_tree_parent: reference,
            creating_location_group: earlier,
        },
        Definition::LocationGroupProperty { location_group: reference, name: 4, value: VALUE },
        Definition::Location {
            reference: location,
            name: 5,
            location_type: LocationType::CPU_THREAD,
            number_of_events: 83 * u64::from(1 - reference),
            location_group: reference,
        },
        Definition::LocationProperty { location, name: 4, value: NUMBER },
        Definition::Region {
            reference,
            name: 1,
            description: 3,
            source_file: 4,
            begin_line_number: 17,
            end_line_number: 1717,
            canonical_name: 2,
            region_role: RegionRole::LOOP,
            paradigm: Paradigm::USER,
            region_flags: 3,
        },
        Definition::Callsite {
            reference,
            source_file: 4,
            line_number: 300,
            entered_region: 0,
            left_region: reference,
        },
        Definition::Callpath { reference, parent: earlier, region: 0 },
        Definition::Group {
            reference,
            name: 1,
            members: members[usize::from(byte)].into(),
            group_type: if reference == 0 { GroupType::COMM_LOCATIONS } else { GroupType::COMM_GROUP },
            paradigm: Paradigm::MPI,
            group_flags: reference,
        },
        Definition::MetricMember {
            reference,
            name: 1,
            description: 2,
            metric_type: 3,
            metric_mode: 0x10,
            value_type: ValueType::INT64,
            base: 1,
            exponent: -9,
            unit: 4,
        },
        metric(reference, location),
        Definition::MetricClassRecorder { metric: 0, recorder: location },
        Definition::Comm { reference, name: 1, group: 1, parent: earlier, flags: 1 },
        Definition::Parameter { reference, name: 1, parameter_type: byte },
        Definition::RmaWin { reference, name: 1, comm: reference, flags: 1 },
        Definition::CartDimension { reference, name: 1, size: 1000 + reference, cart_periodicity: byte },
        Definition::CartTopology {
            reference,
            name: 1,
            communicator: 0,
            cart_dimensions: [0].as_slice().into(),
        },
        Definition::CartCoordinate { cart_topology: reference, rank: 0, coordinates: [7].as_slice().into() },
        Definition::SourceCodeLocation { reference, file: 4, line_number: 70_000 },
        Definition::CallingContext { reference, region: 1, source_code_location: reference, parent: earlier },
        Definition::CallingContextProperty { calling_context: reference, name: 1, value: NUMBER },
        Definition::InterruptGenerator {
            reference,
            name: 1,
            interrupt_generator_mode: byte,
            base: 1,
            exponent: -3,
            period: 1 << 33,
        },
        if reference == 0 {
            Definition::IoRegularFile { reference, name: 1, scope: 0 }
        } else {
            Definition::IoDirectory { reference, name: 2, scope: 1 }
        },
        Definition::IoFileProperty { io_file: reference, name: 1, value: VALUE },
        Definition::IoHandle {
            reference,
            name: 1,
            file: reference,
            io_paradigm: byte,
            io_handle_flags: 1,
            comm: 0,
            parent: earlier,
        },
        Definition::IoPreCreatedHandleState { io_handle: reference, mode: 2, status_flags: 3 },
        Definition::CallpathParameter { callpath: reference, parameter: 0, value: VALUE },
    ]
}

fn metric(reference: u32, recorder: u64) -> Definition<'static> {
    if reference == 0 {
        let metric_members = [0, 0, 0].as_slice().into();
        Definition::MetricClass { reference, metric_members, metric_occurrence: 1, recorder_kind: 2 }
    } else {
        Definition::MetricInstance { reference, metric_class: 0, recorder, metric_scope: 0, scope: 0 }
    }
}

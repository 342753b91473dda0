//! Labels of values (`.pcf`), names of rows (`.row`), and views (`.cfg`).

use std::io::Write;

use super::mpi::{KINDS, STATES, value};
use super::records::Used;
use super::{CAUSE, CRITICAL, FUNCTION, Objects, WAIT_STATE};
use crate::commands::export::events::Events;
use crate::commands::export::source::Source;
use crate::commands::export::text::name;
use crate::error::Result;

/// Writes the labels and colours of all values that occur.
pub(super) fn configuration(
    source: &Source<'_>,
    events: &Events,
    used: &Used,
    out: &mut dyn Write,
) -> Result<()> {
    out.write_all(
        b"DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n\
          SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n\
          DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n",
    )?;
    for (number, title, _) in STATES {
        writeln!(out, "{number}    {title}")?;
    }
    out.write_all(b"\n\nSTATES_COLOR\n")?;
    for (number, _, colour) in STATES {
        writeln!(out, "{number}    {colour}")?;
    }
    for (kind, title) in KINDS {
        let mut functions: Vec<(u64, &str)> = used
            .mpi
            .iter()
            .filter(|(of, _)| *of == kind)
            .map(|&(_, function)| {
                let name = events.functions[function].name.as_str();
                (value(name, function), name)
            })
            .collect();
        functions.sort_unstable();
        functions.dedup_by_key(|(value, _)| *value);
        if !functions.is_empty() {
            write!(out, "\n\nEVENT_TYPE\n9    {kind}    {title}\nVALUES\n0      Outside MPI\n")?;
            for (value, function) in functions {
                writeln!(out, "{value}      {}", name(function))?;
            }
        }
    }
    write!(out, "\n\nEVENT_TYPE\n0    {FUNCTION}    User function\nVALUES\n0      End\n")?;
    for &function in &used.functions {
        writeln!(out, "{}      {}", function + 1, name(&events.functions[function].name))?;
    }
    write!(out, "\n\nEVENT_TYPE\n0    {WAIT_STATE}    Wait state\nVALUES\n0      No waiting\n")?;
    for &metric in &used.metrics {
        writeln!(out, "{}      {}", metric + 1, name(&source.metric_title(Some(metric))))?;
    }
    write!(out, "\n\nEVENT_TYPE\n0    {CAUSE}    Location that is waited for\nVALUES\n0      None\n")?;
    for (at, _) in events.places.iter().enumerate() {
        writeln!(out, "{}      {}", at + 1, name(&source.location_name(at)))?;
    }
    write!(
        out,
        "\n\nEVENT_TYPE\n0    {CRITICAL}    Critical path\nVALUES\n0      Elsewhere\n1      Here\n\n"
    )?;
    Ok(())
}

/// Writes the names of CPUs, nodes, tasks and threads.
pub(super) fn rows(
    source: &Source<'_>,
    events: &Events,
    objects: &Objects,
    out: &mut dyn Write,
) -> Result<()> {
    let node_name = |at: usize| {
        let node = source.cube().system_tree_nodes.get(at);
        name(node.map_or("", |node| node.name.as_str()))
    };
    writeln!(out, "LEVEL CPU SIZE {}", objects.of.len())?;
    for (at, locations) in &objects.nodes {
        for (cpu, _) in (1..).zip(locations) {
            writeln!(out, "{cpu}.{}", node_name(*at))?;
        }
    }
    writeln!(out, "\nLEVEL NODE SIZE {}", objects.nodes.len())?;
    for (at, _) in &objects.nodes {
        writeln!(out, "{}", node_name(*at))?;
    }
    writeln!(out, "\nLEVEL TASK SIZE {}", objects.tasks.len())?;
    for (_, locations) in &objects.tasks {
        let process = locations.first().map_or("", |&at| events.places[at].process_name.as_str());
        writeln!(out, "{}", name(process))?;
    }
    writeln!(out, "\nLEVEL THREAD SIZE {}", objects.of.len())?;
    for location in objects.tasks.iter().flat_map(|(_, locations)| locations) {
        writeln!(out, "{}", name(&source.location_name(*location)))?;
    }
    Ok(())
}

/// Writes a view of the last value of a type of events.
pub(super) fn view(title: &str, kind: u32, out: &mut dyn Write) -> Result<()> {
    let line = "#".repeat(80);
    write!(
        out,
        "#ParaverCFG\nConfigFile.Version: 3.4\nConfigFile.NumWindows: 1\n\n\n{line}\n\
         < NEW DISPLAYING WINDOW {title} >\n{line}\n\
         window_name {title}\nwindow_type single\nwindow_id 1\n\
         window_position_x 200\nwindow_position_y 200\nwindow_width 800\nwindow_height 200\n\
         window_comm_lines_enabled false\nwindow_flags_enabled false\nwindow_noncolor_mode true\n\
         window_color_mode window_in_code_mode\nwindow_units Microseconds\nwindow_maximum_y 20.000000000000\n\
         window_minimum_y 0.000000000000\nwindow_compute_y_max true\nwindow_level thread\n\
         window_scale_relative 1.000000000000\nwindow_end_time_relative 1.000000000000\n\
         window_object appl {{ 1, {{ All }} }}\nwindow_begin_time_relative 0.000000000000\nwindow_open true\n\
         window_drawmode 1\nwindow_drawmode_rows 1\nwindow_pixel_size 1\nwindow_labels_to_draw 1\n\
         window_selected_functions {{ 14, {{ {{cpu, Active Thd}}, {{appl, Adding}}, {{task, Adding}}, \
         {{thread, Last Evt Val}}, {{node, Adding}}, {{system, Adding}}, {{workload, Adding}}, {{from_obj, All}}, \
         {{to_obj, All}}, {{tag_msg, All}}, {{size_msg, All}}, {{bw_msg, All}}, {{evt_type, =}}, {{evt_value, All}}, }} }}\n\
         window_compose_functions {{ 8, {{ {{compose_cpu, As Is}}, {{compose_appl, As Is}}, {{compose_task, As Is}}, \
         {{compose_thread, As Is}}, {{compose_node, As Is}}, {{compose_system, As Is}}, {{compose_workload, As Is}}, \
         {{topcompose1, As Is}}, }} }}\n\
         window_filter_module evt_type 1 {kind}\nwindow_filter_module evt_type_label 1 \"{title}\"\n"
    )?;
    Ok(())
}

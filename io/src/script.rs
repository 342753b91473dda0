//! A shell script that reproduces the I/O of a run with IOR (io.md 6).

use crate::access::Kind;
use crate::ior::Command;
use crate::json::Model;

/// How often IOR runs each line; the median counts (io.md 4.9).
const RUNS: u32 = 3;

/// Lines of IOR for each family of phases, with remarks as comments. What is read is written before.
pub fn script(model: &Model) -> String {
    let mut text = "#!/bin/sh\n\
        # Reproduces the file I/O of a run with IOR, phase by phase.\n\
        # FILE is what is written and read, RUN starts as many tasks as the word behind it says.\n\
        : \"${FILE:?is to be a path in the file system that is measured}\" \"${RUN:=mpirun -n}\"\n"
        .to_owned();
    let mut last = String::new();
    for family in &model.families {
        let Some(phase) = family.example(&model.phases) else { continue };
        let (commands, remarks) = model.commands(family);
        text += &format!("\n# phase {}: {}\n", family.numbers, comment(&phase.key.family));
        remarks.iter().for_each(|remark| text += &format!("# {}\n", comment(remark)));
        for command in commands {
            let before = (command.kind == Kind::Read).then(|| line(&command.writing()));
            for line in before.filter(|before| *before != last).into_iter().chain([line(&command)]) {
                text += &line;
                last = line;
            }
        }
    }
    text
}

fn line(command: &Command) -> String {
    let Command { tasks, .. } = command;
    format!("{}$RUN {tasks} ior {} -i {RUNS} -o \"$FILE\"\n", command.hints(), command.arguments())
}

/// Text that stays in its line.
fn comment(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { '?' } else { it }).collect()
}

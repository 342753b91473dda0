//! What an archive that is to be passed on does not say (site 8): hosts have numbers, of paths there is the last part, and what the
//! recorder has said of mounts and hints is left out as far as it names hosts or paths.

use super::run::Run;
use std::collections::HashMap;

/// Properties of files that name hosts and paths.
const OF_MOUNTS: [&str; 2] = ["Mount Point", "Mount Source"];

/// Takes the names of hosts and the paths out of a run.
pub(super) fn hide(run: &mut Run<'_>) {
    let hosts = std::mem::take(&mut run.hosts);
    run.hosts = (0..hosts.len()).map(number).collect();
    let of_host = |name: &str| hosts.iter().position(|host| host == name).map(number);
    let mut files: HashMap<String, u32> = HashMap::new();
    for file in &mut run.shared.files.list {
        file.host = file.host.as_deref().and_then(of_host);
        file.properties.retain(|(name, _)| !OF_MOUNTS.contains(name));
        // Others of the same name stay other files.
        let name = last_part(&file.path);
        let known = files.entry(name.to_owned()).or_default();
        *known += 1;
        file.path = if *known == 1 { name.to_owned() } else { format!("{name}~{known}") };
    }
    let contexts = &mut run.contexts;
    let sources = contexts.regions.iter_mut().filter_map(|region| region.file.as_mut());
    for path in sources.chain(contexts.lines.iter_mut().map(|(file, _)| file)) {
        *path = last_part(path).to_owned();
    }
    for program in run.programs.iter_mut().flatten() {
        *program = last_part(program).to_owned();
    }
    for text in run.texts.iter_mut().flatten() {
        *text = without_values(text, &hosts);
    }
}

/// The name of a host by its position.
fn number(at: usize) -> String {
    format!("n{at}")
}

fn last_part(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    trimmed.rsplit('/').next().filter(|part| !part.is_empty()).unwrap_or(path)
}

/// Returns hints (`key=value;…`) without values that have a path or the name of a host; other texts have none of these.
fn without_values(text: &str, hosts: &[String]) -> String {
    let says = |value: &str| value.contains('/') || hosts.iter().any(|host| value.contains(host.as_str()));
    let hint = |piece: &str| match piece.split_once('=') {
        Some((key, value)) if says(value) => format!("{key}="),
        _ => piece.to_owned(),
    };
    text.split(';').map(hint).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_part_of_a_path_stays() {
        assert_eq!(["/home/me/app", "app", "dir/", "/", ""].map(last_part), ["app", "app", "dir", "/", ""]);
    }

    #[test]
    fn hints_keep_what_names_nothing() {
        let hosts = ["login1".to_owned()];
        let text = "cb_config_list=login1:2,*:1;cb_nodes=2;log=/home/me/x";
        assert_eq!(without_values(text, &hosts), "cb_config_list=;cb_nodes=2;log=");
        assert_eq!(without_values("v(3,1,16,b8)", &hosts), "v(3,1,16,b8)");
    }
}

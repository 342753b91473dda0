//! Events of rules: which regions make them (advice 5.1).

use model::Region;
use rules::{EventKind, Matching, Rules};
use rustc_hash::FxHashMap;

use super::{Trace, names_of};
use crate::int::to_u32;

/// The events that rules are over, by their positions in [`Rules::events`].
#[derive(Clone, Debug, Default)]
pub struct WantedEvents {
    /// By position of a region: what its visits are.
    parts: FxHashMap<u32, Box<[EventPart]>>,
    /// By event: which begin an end belongs to.
    partners: Vec<Partner>,
}

/// What an outermost visit of a region is to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventPart {
    /// The event.
    pub event: u16,
    /// What it is.
    pub role: EventRole,
}

/// What a visit is to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRole {
    /// All of it.
    Visit,
    /// The first call of a pair.
    Begin,
    /// The second call of a pair.
    End,
}

/// Which open begin an end belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Partner {
    /// The first one.
    First,
    /// The last one.
    Last,
    /// The first one with the same value of a parameter, which has these references.
    SameValue(Vec<u64>),
}

impl WantedEvents {
    /// Those that some rule is over.
    fn new(rules: &Rules, trace: &Trace) -> WantedEvents {
        let wanted: Vec<usize> = rules.tables().into_iter().filter_map(|over| over.event).collect();
        if wanted.is_empty() {
            return WantedEvents::default();
        }
        let parameters = &trace.definitions.parameters;
        let references = |name: &str| {
            let positions = 0..parameters.len();
            let named = positions.filter(|&at| parameters.get(at).is_some_and(|known| known == name));
            named.map(|at| parameters.reference(at)).collect()
        };
        let partner = |kind: &EventKind| match kind {
            EventKind::Visits { .. } | EventKind::Pairs { matching: Matching::Fifo, .. } => Partner::First,
            EventKind::Pairs { matching: Matching::Lifo, .. } => Partner::Last,
            EventKind::Pairs { matching: Matching::Parameter(name), .. } => {
                Partner::SameValue(references(name))
            }
        };
        let partners = rules.events().iter().map(|event| partner(event.kind())).collect();
        let parts = |region: &Region| -> Box<[EventPart]> {
            let of_event = |&event: &usize| parts_of(rules.events()[event].kind(), event, region);
            wanted.iter().flat_map(of_event).collect()
        };
        let regions = trace.definitions.regions.iter().enumerate();
        let parts = regions.map(|(at, region)| (to_u32(at), parts(region)));
        WantedEvents { parts: parts.filter(|(_, parts)| !parts.is_empty()).collect(), partners }
    }

    /// Events with these partners, of no regions.
    #[cfg(test)]
    pub(crate) fn of_partners(partners: Vec<Partner>) -> WantedEvents {
        WantedEvents { parts: FxHashMap::default(), partners }
    }

    /// What outermost visits of a region are.
    pub fn parts(&self, region: u32) -> &[EventPart] {
        self.parts.get(&region).map_or(&[], |parts| parts)
    }

    /// How many events there are, wanted or not; 0 if none is wanted.
    pub fn count(&self) -> usize {
        self.partners.len()
    }

    /// Which open begin an end of an event belongs to.
    ///
    /// # Panics
    /// If there is no such event.
    pub fn partner(&self, event: u16) -> &Partner {
        &self.partners[usize::from(event)]
    }
}

/// What visits of a region are to an event; a pattern may lack the parameters of a function.
fn parts_of(kind: &EventKind, event: usize, region: &Region) -> Vec<EventPart> {
    let begins = names_of(region).iter().any(|name| kind.begins(name));
    let ends = names_of(region).iter().any(|name| kind.ends(name));
    let roles = match kind {
        EventKind::Visits { .. } => [(begins, EventRole::Visit), (false, EventRole::Visit)],
        EventKind::Pairs { .. } => [(begins, EventRole::Begin), (ends, EventRole::End)],
    };
    let Ok(event) = u16::try_from(event) else { return Vec::new() };
    let roles = roles.into_iter().filter(|(is_so, _)| *is_so);
    roles.map(|(_, role)| EventPart { event, role }).collect()
}

impl Trace {
    /// Makes visits of regions parts of the events that rules are over.
    pub fn mark_events(&mut self, rules: &Rules) {
        self.events = WantedEvents::new(rules, self);
        for (region, kind) in self.kinds.iter_mut().enumerate() {
            kind.is_of_event = !self.events.parts(to_u32(region)).is_empty();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_parts_of_events_by_their_names_with_and_without_parameters() {
        let pair = EventKind::Pairs {
            begin: vec!["start*".into()],
            end: vec!["*_wait".into(), "start".into()],
            matching: Matching::Fifo,
        };
        let roles = |name: &str| -> Vec<EventRole> {
            let region = Region { name: name.into(), ..Region::default() };
            parts_of(&pair, 0, &region).iter().map(|part| part.role).collect()
        };
        assert_eq!(roles("start_all(int)"), [EventRole::Begin]);
        assert_eq!(roles("start(int)"), [EventRole::Begin, EventRole::End]);
        assert_eq!(roles("x_wait"), [EventRole::End]);
        assert_eq!(roles("x_waits"), []);
    }
}

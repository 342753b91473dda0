//! Test support: small cubes, and tar archives built by hand.

#![allow(dead_code, reason = "no test binary uses everything")]

use cubex::{
    Attribute, Cnode, CnodeId, Cube, DataType, Location, LocationGroup, Metric, MetricKind, Region, RegionId,
    SystemTreeNode, SystemTreeNodeId,
};

/// The specification's smallest complete example: `main` calls `f`, on two processes; time and visits.
pub(crate) fn minimal() -> Cube {
    let mut cube = Cube {
        attributes: vec![Attribute::new("CubePL Version", "1.1"), Attribute::new("Creator", "tiny")],
        ..Cube::default()
    };
    cube.add_metric(Metric {
        kind: MetricKind::Inclusive,
        unique_name: "time".into(),
        display_name: "Time".into(),
        unit: "sec".into(),
        url: "@mirror@doc.html#time".into(),
        description: "Total time".into(),
        ..Metric::default()
    });
    cube.add_metric(Metric {
        unique_name: "visits".into(),
        display_name: "Visits".into(),
        data_type: DataType::UInt64,
        unit: "occ".into(),
        ..Metric::default()
    });
    for (name, begin, end) in [("main", 1, 9), ("f", 11, 19)] {
        cube.add_region(Region {
            module: "a.c".into(),
            begin_line: Some(begin),
            end_line: Some(end),
            paradigm: "compiler".into(),
            role: "function".into(),
            ..Region::named(name)
        });
    }
    cube.add_cnode(Cnode::default());
    cube.add_cnode(Cnode { parent: Some(CnodeId(0)), region: RegionId(1), ..Cnode::default() });
    add_processes(&mut cube, 2);
    cube
}

/// Adds a machine with one node that runs `count` processes of one thread each.
pub(crate) fn add_processes(cube: &mut Cube, count: usize) {
    let node = |parent, name: &str, class: &str| SystemTreeNode {
        parent,
        name: name.into(),
        class: class.into(),
        ..SystemTreeNode::default()
    };
    cube.add_system_tree_node(node(None, "machine m", "machine"));
    cube.add_system_tree_node(node(Some(SystemTreeNodeId(0)), "node n", "node"));
    for rank in 0..count {
        let group = cube.add_location_group(LocationGroup {
            system_tree_node: SystemTreeNodeId(1),
            name: format!("MPI Rank {rank}"),
            rank: rank as u64,
            ..LocationGroup::default()
        });
        cube.add_location(Location { group, name: "Master thread".into(), ..Location::default() });
    }
}

/// One metric, one region, call paths with these parents, and processes.
pub(crate) fn tree(parents: &[Option<usize>], metric: Metric, processes: usize) -> Cube {
    let mut cube = Cube::default();
    cube.add_metric(Metric { unique_name: "m".into(), ..metric });
    cube.add_region(Region::named("main"));
    for parent in parents {
        cube.add_cnode(Cnode { parent: parent.map(CnodeId), ..Cnode::default() });
    }
    add_processes(&mut cube, processes);
    cube
}

/// A tar archive with standard padding, or with CubeLib's for sizes that are multiples of 512.
pub(crate) fn archive(members: &[(&str, &[u8])], padding: Padding) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, contents) in members {
        out.extend(header(name, b'0', contents.len() as u64));
        out.extend(*contents);
        out.resize(out.len().next_multiple_of(512), 0);
        if padding == Padding::CubeLib && contents.len() % 512 == 0 {
            out.extend([0; 512]);
        }
    }
    out.extend([0; 1024]);
    out
}

/// Padding behind a member whose size is a multiple of 512.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Padding {
    Standard,
    CubeLib,
}

/// A tar header.
pub(crate) fn header(name: &str, kind: u8, size: u64) -> [u8; 512] {
    let mut block = [0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// The members of a tar archive with standard padding, in order.
pub(crate) fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut members = Vec::new();
    let mut rest = archive;
    while rest[0] != 0 {
        let name = String::from_utf8(rest[..100].split(|&byte| byte == 0).next().unwrap().to_vec()).unwrap();
        let digits = std::str::from_utf8(&rest[124..135]).unwrap();
        let size = usize::from_str_radix(digits, 8).unwrap();
        members.push((name, rest[512..512 + size].to_vec()));
        rest = &rest[512 + size.next_multiple_of(512)..];
    }
    assert_eq!(rest, [0; 1024], "two blocks of zeros end the archive");
    members
}

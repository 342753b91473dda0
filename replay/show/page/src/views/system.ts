// The system tree: machines and nodes, processes, and threads where a process has several.

import type { Data } from "../data/load.js";

export interface SystemTree {
  /** For each node what it is: 0 machine or node, 1 process, 2 location; and its number there. */
  nodes: [number, number][];
  roots: number[];
  /** Nodes that are open at first. */
  open: number[];
  children: (node: number) => readonly number[];
  parent: (node: number) => number | null;
  label: (node: number) => string;
  isLeaf: (node: number) => boolean;
  isUnknown: (node: number) => boolean;
  /** The first location of a node, if it is a process or a location. */
  location: (node: number) => number | null;
  ofLocation: (location: number) => number;
  /** Sums of values of locations. */
  sums: (values: Float64Array) => Float64Array;
}

/** Children up to which a node is open at first. */
const OPEN = 64;

export function systemTree(data: Data): SystemTree {
  const { places, report } = data;
  const nodes: [number, number][] = [];
  const below: number[][] = [];
  const parents: number[] = [];
  const add = (kind: number, number: number, parent: number) => {
    const at = nodes.length;
    nodes.push([kind, number]);
    below.push([]);
    parents.push(parent);
    if (parent >= 0) below[parent]!.push(at);
    return at;
  };
  const machines = report.nodes.map((node, at) => add(0, at, node.parent ?? -1));
  const ofLocation = new Array<number>(places.count).fill(-1);
  for (let group = 0; group < places.groups; group++) {
    const members = places.members[group]!.filter((it) => places.kind[it] !== 2);
    if (members.length === 0) continue;
    const process = add(1, group, machines[places.groupNode[group]!] ?? -1);
    for (const member of members) ofLocation[member] = members.length === 1 ? process : add(2, member, process);
  }
  // Nodes without processes say nothing.
  const isUsed = nodes.map(([kind]) => kind > 0);
  for (let at = nodes.length - 1; at >= 0; at--) if (isUsed[at] && parents[at]! >= 0) isUsed[parents[at]!] = true;
  below.forEach((children, at) => (below[at] = children.filter((child) => isUsed[child])));
  const roots = nodes.flatMap((_, at) => (parents[at]! < 0 && isUsed[at] ? [at] : []));
  const membersOf = (node: number): number[] => {
    const [kind, number] = nodes[node]!;
    return kind === 2 ? [number] : kind === 1 ? places.members[number]!.filter((it) => places.kind[it] !== 2) : [];
  };
  const known = nodes.map((_, at) => membersOf(at).some((it) => places.known[it] === 1));
  for (let at = nodes.length - 1; at >= 0; at--) if (known[at] && parents[at]! >= 0) known[parents[at]!] = true;
  return {
    nodes, roots,
    open: nodes.flatMap(([kind], at) => (kind === 0 && (below[at]!.length <= OPEN || roots.length === 1) ? [at] : [])),
    children: (node) => below[node]!,
    parent: (node) => (parents[node]! < 0 ? null : parents[node]!),
    label: (node) => {
      const [kind, number] = nodes[node]!;
      return kind === 0 ? report.nodes[number]!.name : kind === 1 ? places.processName(number) : places.name(number).replace(/^[^,]*, /, "");
    },
    isLeaf: (node) => below[node]!.length === 0,
    isUnknown: (node) => !known[node],
    location: (node) => membersOf(node)[0] ?? null,
    ofLocation: (location) => ofLocation[location] ?? -1,
    sums: (values) => {
      const sums = new Float64Array(nodes.length);
      ofLocation.forEach((node, location) => { if (node >= 0) sums[node] = sums[node]! + values[location]!; });
      // Nodes come after those that they are in, so leaves are added first; what is a process and its thread has its sum.
      for (let at = nodes.length - 1; at >= 0; at--) if (parents[at]! >= 0) sums[parents[at]!] = sums[parents[at]!]! + sums[at]!;
      return sums;
    },
  };
}

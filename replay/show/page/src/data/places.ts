// Locations: threads of processes on nodes, and where they are in topologies.

import type { Report } from "./report.js";
import { NONE, column, type Numbers, type Table } from "./table.js";

/** The kind of a location that is a thread. */
const THREAD = 0;

export class Places {
  readonly count: number;
  /** The process of each location. */
  readonly group: Numbers;
  /** 0 thread, 1 accelerator stream, 2 metrics only. */
  readonly kind: Numbers;
  /** Whether anything is known of a location: it has events. */
  readonly known: Numbers;
  readonly groups: number;
  readonly groupRank: Numbers;
  readonly groupNode: Numbers;
  readonly isProcess: Numbers;
  /** The locations of each process. */
  readonly members: number[][];
  private readonly name_: Numbers;
  private readonly groupName: Numbers;

  constructor(private readonly report: Report, locations: Table, groups: Table, readonly coordinates: Table | null) {
    this.count = locations.rows;
    this.group = column(locations, "group");
    this.kind = column(locations, "kind");
    this.known = column(locations, "known");
    this.name_ = column(locations, "name");
    this.groups = groups.rows;
    this.groupNode = column(groups, "node");
    this.groupRank = column(groups, "rank");
    this.isProcess = column(groups, "process");
    this.groupName = column(groups, "name");
    this.members = Array.from({ length: this.groups }, () => []);
    for (let at = 0; at < this.count; at++) this.members[this.group[at]!]?.push(at);
  }

  /** The name of a process. */
  processName(group: number): string {
    if (this.isProcess[group]) return `rank ${this.groupRank[group]}`;
    return this.report.names[this.groupName[group] ?? NONE] ?? "?";
  }

  /** The name of a location, as commands print it. */
  name(location: number): string {
    if (location >= this.count) return "?";
    const group = this.group[location]!;
    const process = this.processName(group);
    if (this.members[group]?.length === 1) return process;
    const number = this.members[group]!.indexOf(location);
    if (this.kind[location] === THREAD) return `${process} thread ${number}`;
    const name = this.report.names[this.name_[location]!] ?? "";
    return `${process}, ${name || `location ${number}`}`;
  }

  /** The name of somebody that may be nobody. */
  who(location: number): string {
    return location === NONE ? "somebody" : this.name(location);
  }

  /** The name of neighbours: ranks if these are whole. */
  range(first: number, count: number): string {
    if (count === 1) return this.name(first);
    const last = first + count - 1;
    const isWhole =
      (first === 0 || this.group[first - 1] !== this.group[first]) &&
      (last + 1 >= this.count || this.group[last + 1] !== this.group[last]) &&
      this.isProcess[this.group[first]!] === 1;
    if (!isWhole) return `locations ${first}–${last}`;
    const [from, to] = [this.groupRank[this.group[first]!], this.groupRank[this.group[last]!]];
    return from === to ? `rank ${from}` : `ranks ${from}–${to}`;
  }

  /** The rank of a location; null if it is of no process. */
  rank(location: number): number | null {
    const group = this.group[location];
    return group === undefined || !this.isProcess[group] ? null : this.groupRank[group]!;
  }

  /** The node of a location. */
  node(location: number): number {
    return this.groupNode[this.group[location] ?? 0] ?? 0;
  }
}

// What locations did over time: by level, group of neighbours, and bin.

import type { Level, Report } from "./report.js";
import { column, type Table } from "./table.js";

/** The class of cells without any time. */
export const NOTHING = 255;

/** Steps of the share of waiting. */
export const STEPS = 31;

/** A level: for each cell (group by bin) the class with most time and the share of waiting; exact ones have ticks by class. */
export interface Cells {
  level: Level;
  main: Uint8Array;
  share: Uint8Array;
  ticks: Map<number, Float64Array> | null;
}

/** Ticks of each class, and whether they are exact. */
export interface Sums { ticks: Float64Array; isExact: boolean }

export class Grid {
  readonly cells: (Cells | null)[];
  private readonly isWaiting: boolean[];

  constructor(private readonly report: Report, private readonly locations: number, table: Table) {
    this.cells = report.levels.map(() => null);
    this.isWaiting = report.classes.map((it) => it.is_waiting);
    const levels = column(table, "level");
    const [classes, groups] = [column(table, "class"), column(table, "group")];
    const counts = column(table, "groups");
    const values = table.bytes.get("values") ?? [];
    for (let row = 0; row < table.rows; row++) {
      const cells = this.exact(levels[row]!);
      const at = groups[row]! * cells.level.bins;
      const ticks = ticksOf(cells, classes[row]!);
      readNumbers(values[row]!, ticks, at, counts[row]! * cells.level.bins);
    }
    // Levels that are exact but have no time at all.
    if (table.rows === 0) this.exact(report.levels.length - 1);
    for (const cells of this.cells) if (cells) this.shade(cells);
  }

  private exact(level: number): Cells {
    const known = this.cells[level];
    if (known) return known;
    const described = this.report.levels[level]!;
    const size = described.groups * described.bins;
    const cells: Cells = {
      level: described, main: new Uint8Array(size).fill(NOTHING), share: new Uint8Array(size), ticks: new Map(),
    };
    this.cells[level] = cells;
    return cells;
  }

  /** Adds a level of which only main classes and shares of waiting are there. */
  addShades(level: number, table: Table): void {
    const described = this.report.levels[level]!;
    const plane = (name: string) => {
      const all = new Uint8Array(described.groups * described.bins);
      (table.bytes.get(name) ?? []).forEach((group, at) => all.set(group, at * described.bins));
      return all;
    };
    this.cells[level] = { level: described, main: plane("class"), share: plane("share"), ticks: null };
  }

  private shade(cells: Cells): void {
    const most = new Float64Array(cells.main.length);
    const waiting = new Float64Array(cells.main.length);
    for (const [number, ticks] of cells.ticks ?? []) {
      for (let at = 0; at < ticks.length; at++) {
        const value = ticks[at]!;
        if (value > most[at]!) {
          most[at] = value;
          cells.main[at] = number;
        }
        if (this.isWaiting[number]) waiting[at] = waiting[at]! + value;
      }
    }
    const { bins, bin_ticks } = cells.level;
    for (let at = 0; at < waiting.length; at++) {
      if (waiting[at]! <= 0) continue;
      const all = bin_ticks * this.members(cells.level, Math.floor(at / bins));
      cells.share[at] = Math.max(1, Math.min(STEPS, Math.round((STEPS * waiting[at]!) / all)));
    }
  }

  /** Locations of a group. */
  members(level: Level, group: number): number {
    return Math.max(0, Math.min(level.span, this.locations - group * level.span));
  }

  /** The level for rows of so many locations each: the coarsest that has them, or the finest that is there. */
  levelFor(span: number): Cells | null {
    let best: Cells | null = null;
    for (const cells of this.cells) {
      if (cells && (best === null || cells.level.span <= span)) best = cells;
    }
    return best;
  }

  /** Ticks of each class of locations [first, last) from `begin` to `end`. Cells that are cut count by their covered part. */
  sums(first: number, last: number, begin: number, until: number): Sums {
    // The run may end within a bin, all of whose time lies before that. Addresses have nanoseconds.
    const end = until >= this.report.end - 1e-9 * this.report.ticks_per_second ? Infinity : until;
    const fits = (cells: Cells | null): cells is Cells =>
      !!cells?.ticks && first % cells.level.span === 0 && (last % cells.level.span === 0 || last >= this.locations);
    const exact = this.cells.filter(fits).sort((a, b) => b.level.bins - a.level.bins)[0];
    if (exact) return { ticks: exactSums(exact, this.report.classes.length, first, last, begin, end), isExact: true };
    const cells = this.levelFor(1);
    const ticks = new Float64Array(this.report.classes.length);
    if (cells) this.roughSums(cells, first, last, begin, end, ticks);
    return { ticks, isExact: false };
  }

  private roughSums(cells: Cells, first: number, last: number, begin: number, end: number, ticks: Float64Array): void {
    const { span, bins, bin_ticks } = cells.level;
    for (let group = Math.floor(first / span); group * span < last; group++) {
      for (const [bin, part] of covered(bins, bin_ticks, begin, end)) {
        const main = cells.main[group * bins + bin]!;
        if (main !== NOTHING) ticks[main] = ticks[main]! + part * bin_ticks * this.members(cells.level, group);
      }
    }
  }
}

/** Bins between two times, with the part of each that lies there. */
export function* covered(bins: number, bin_ticks: number, begin: number, end: number): Generator<[number, number]> {
  const last = Math.min(bins, Math.ceil(end / bin_ticks));
  for (let bin = Math.max(0, Math.floor(begin / bin_ticks)); bin < last; bin++) {
    const part = Math.min(end, (bin + 1) * bin_ticks) - Math.max(begin, bin * bin_ticks);
    if (part > 0) yield [bin, part / bin_ticks];
  }
}

function exactSums(
  cells: Cells, classes: number, first: number, last: number, begin: number, end: number,
): Float64Array {
  const { span, groups, bins, bin_ticks } = cells.level;
  const sums = new Float64Array(classes);
  const parts = [...covered(bins, bin_ticks, begin, end)];
  for (const [number, ticks] of cells.ticks ?? []) {
    let sum = 0;
    for (let group = Math.floor(first / span); group < groups && group * span < last; group++) {
      for (const [bin, part] of parts) sum += part * ticks[group * bins + bin]!;
    }
    sums[number] = sum;
  }
  return sums;
}

function ticksOf(cells: Cells, number: number): Float64Array {
  let ticks = cells.ticks!.get(number);
  if (!ticks) cells.ticks!.set(number, (ticks = new Float64Array(cells.main.length)));
  return ticks;
}

/** Reads zigzag LEB128 numbers; a 0 is followed by the number of further zeros. */
export function readNumbers(bytes: Uint8Array, into: Float64Array, first: number, count: number): void {
  let at = 0;
  const number = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  for (let cell = 0; cell < count && at < bytes.length; cell++) {
    const value = number();
    if (value === 0) cell += number();
    else into[first + cell] = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

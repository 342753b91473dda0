// The main loop: its iterations, values of metrics in each, and times of groups of locations in blocks of iterations.

import { readNumbers } from "./grid.js";
import type { Data } from "./load.js";
import { NONE, column, type Numbers, type Table } from "./table.js";

/** The block `main_loop`. */
export interface MainLoop {
  iterations: number;
  /** Neighbours that share a row. */
  block: number;
  locations: number;
  /** Messages and collective operations that join iterations of different numbers. */
  crossing: number;
  disagreeing: number;
  kinds: { iterations: number; representative: number }[];
  trend: number | null;
  causes: { iteration: number; location: number; cnode: number; ticks: number; ticks_of_run: number }[];
  map_span: number;
  map_block: number;
  /** The iterations that the archive was limited to; null if it was not. */
  recorded: Recorded | null;
}

/** Iterations of the program that were recorded, or kept in a short archive. */
interface Recorded {
  is_short: boolean;
  iterations: number;
  of: number;
  /** Stretches: the number of the first here, its number in the program, and how many follow each other in both. */
  numbers: [number, number, number][];
  /** Whether the iterations here are these, all of them and no others. */
  are_main_loop: boolean;
}

const BORDER = 1;
const GAP = 2;
const UNLIKE = 4;

/** A metric by row of iterations; what nobody knows is not a number. */
export interface Values { sum: Float64Array; least: Float64Array; most: Float64Array; at: Uint32Array }

/** Times of a metric by group of locations, and block of iterations. */
export type Cells = Float64Array;

export class Iterations {
  readonly count: number;
  readonly begin: Numbers;
  readonly end: Numbers;
  readonly elapsed: Numbers;
  readonly locations: Numbers;
  readonly computation: Numbers;
  readonly computationAt: Numbers;
  readonly kind: Numbers;
  readonly flags: Numbers;
  /** Metrics that have values, and those that the map has. */
  readonly metrics: number[];
  readonly mapped: number[];
  readonly groups: number;
  readonly columns: number;
  private readonly known = new Map<number, Values>();
  private readonly cells_ = new Map<number, Cells>();

  constructor(readonly loop: MainLoop, locations: number, series: Table, private readonly values_: Table | null, private readonly map: Table | null) {
    const of = (name: string) => column(series, name);
    this.count = series.rows;
    [this.begin, this.end, this.elapsed] = [of("begin"), of("end"), of("elapsed")];
    [this.locations, this.kind, this.flags] = [of("locations"), of("kind"), of("flags")];
    [this.computation, this.computationAt] = [of("most_computation"), of("most_computation_location")];
    this.metrics = [...new Set(column(values_, "metric"))];
    this.mapped = [...new Set(column(map, "metric"))];
    this.groups = Math.ceil(locations / loop.map_span);
    this.columns = Math.ceil(loop.iterations / loop.map_block);
  }

  /** The first and the last number of a row. */
  numbers(row: number): [number, number] {
    const { block, iterations } = this.loop;
    return [row * block + 1, Math.min(iterations, (row + 1) * block)];
  }

  /** The number of a row, or its first and last one. */
  label(row: number): string {
    const [from, to] = this.numbers(row);
    return from === to ? String(from) : `${from}–${to}`;
  }

  /** Whether iterations have other numbers in the program than here. */
  get areRenumbered(): boolean {
    return this.loop.recorded?.numbers.some(([here, there]) => here !== there) ?? false;
  }

  /** The number of an iteration in the program; null if it is not known. */
  inProgram(number: number): number | null {
    const stretch = this.loop.recorded?.numbers.find(([here, , count]) => number >= here && number < here + count);
    return stretch ? stretch[1] + number - stretch[0] : null;
  }

  /** The numbers of some iterations in the program, if these are others than here: ` (48–57 of the program)`. */
  renumbered(from: number, to: number): string {
    const [first, last] = [this.inProgram(from), this.inProgram(to)];
    if (!this.areRenumbered || first === null || last === null) return "";
    const link = last - first === to - from ? "–" : " to ";
    return ` (${first === last ? first : `${first}${link}${last}`} of the program)`;
  }

  /** The row of an iteration. */
  row(number: number): number {
    return Math.floor((number - 1) / this.loop.block);
  }

  isUnlike(row: number): boolean {
    return (this.flags[row]! & UNLIKE) !== 0;
  }

  isBorder(row: number): boolean {
    return (this.flags[row]! & BORDER) !== 0;
  }

  hasGap(row: number): boolean {
    return (this.flags[row]! & GAP) !== 0;
  }

  /** Rows of those unlike the others. */
  unlike(): number[] {
    return Array.from({ length: this.count }, (_, row) => row).filter((row) => this.isUnlike(row));
  }

  /** The median, the least and the most of the elapsed times, as the summary of the analysis has them: without first and last ones. */
  usual(): [number, number, number] {
    const rows = Array.from({ length: this.count }, (_, row) => row);
    const inner = rows.filter((row) => !this.isBorder(row));
    const all = (inner.length < 3 ? rows : inner).map((row) => this.elapsed[row]!).sort((a, b) => a - b);
    return [all[Math.floor(all.length / 2)] ?? 0, all[0] ?? 0, all[all.length - 1] ?? 0];
  }

  /** The values of a metric, in its own unit or in ticks. */
  values(metric: number): Values {
    const before = this.known.get(metric);
    if (before) return before;
    const nothing = () => new Float64Array(this.count).fill(Number.NaN);
    const made: Values = { sum: nothing(), least: nothing(), most: nothing(), at: new Uint32Array(this.count).fill(NONE) };
    const of = (name: string) => column(this.values_, name);
    const [metrics, numbers, sum, least, most, at] = [of("metric"), of("iteration"), of("sum"), of("least"), of("most"), of("location")];
    for (let row = metrics.indexOf(metric as never); row >= 0 && row < metrics.length; row++) {
      // Number 0 is what is outside of iterations.
      if (metrics[row] !== metric || numbers[row] === 0) continue;
      const to = this.row(numbers[row]!);
      [made.sum[to], made.least[to], made.most[to], made.at[to]] = [sum[row]!, least[row]!, most[row]!, at[row]!];
    }
    this.known.set(metric, made);
    return made;
  }

  /** The map of a metric, in ticks. */
  cells(metric: number): Cells {
    const before = this.cells_.get(metric);
    if (before) return before;
    const made = new Float64Array(this.groups * this.columns);
    const [metrics, groups] = [column(this.map, "metric"), column(this.map, "group")];
    const values = this.map?.bytes.get("values") ?? [];
    for (let row = 0; row < metrics.length; row++) {
      if (metrics[row] === metric) readNumbers(values[row]!, made, groups[row]! * this.columns, this.columns);
    }
    this.cells_.set(metric, made);
    return made;
  }
}

const made = new WeakMap<Table, { values: Table | undefined; map: Table | undefined; iterations: Iterations }>();

/** The iterations of the page; null as long as they are not there. */
export function iterationsOf(data: Data): Iterations | null {
  const [series, values, map] = ["series", "series_values", "series_map"].map((name) => data.tables.get(name));
  if (!data.mainLoop || !series) return null;
  const before = made.get(series);
  if (before && before.values === values && before.map === map) return before.iterations;
  const iterations = new Iterations(data.mainLoop, data.places.count, series, values ?? null, map ?? null);
  made.set(series, { values, map, iterations });
  return iterations;
}

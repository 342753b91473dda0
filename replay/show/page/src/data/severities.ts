// Values by metric, call path and location.

import type { Calls } from "./calls.js";
import type { Places } from "./places.js";
import { isAnalysed, type Metric, type Report } from "./report.js";
import { column, inflate, type Table } from "./table.js";

/** What has values: metrics of the report, or a sum of some, less some others. */
export interface Quantity {
  name: string;
  title: string;
  unit: string;
  combine: Metric["combine"];
  obstacle: string | null;
  adds: number[];
  subtracts: number[];
}

/** Values of locations; those of which the page has only sums are missing from it. */
export interface ByLocation {
  values: Float64Array;
  /** The part of the sum that `values` have, from 0 to 1. */
  covered: number;
}

/** What is said instead of waiting that nobody has looked for. */
const UNKNOWN = "not analysed";

/** What differences of sums leave of nothing, as a part of the whole. */
const ROUNDING = 1e-9;

/** Steps of values that are rounded. */
const STEPS = 65_535;

/** Makes values 0 that are only what rounding has left. */
function snap(values: Float64Array, tolerance: number): void {
  for (let at = 0; at < values.length; at++) if (Math.abs(values[at]!) <= tolerance) values[at] = 0;
}

interface Totals { exclusive: Float64Array; inclusive: Float64Array }

export class Severities {
  /** Whether all rows of values by location are there. */
  isComplete = false;
  private readonly totals = new Map<number, Totals>();
  private readonly packed = new Map<string, { least: number; most: number; bytes: Uint8Array }>();
  private readonly rows = new Map<string, Float64Array | Uint16Array>();
  private readonly sums = new Map<string, Totals>();

  constructor(
    private readonly report: Report, private readonly calls: Calls, private readonly places: Places, totals: Table,
  ) {
    const [metrics, cnodes] = [column(totals, "metric"), column(totals, "cnode")];
    const [exclusive, inclusive] = [column(totals, "exclusive"), column(totals, "inclusive")];
    for (let row = 0; row < totals.rows; row++) {
      const metric = metrics[row]!;
      let of = this.totals.get(metric);
      if (!of) {
        const neutral = neutralOf(report.metrics[metric]?.combine ?? "sum");
        of = {
          exclusive: new Float64Array(calls.count).fill(neutral), inclusive: new Float64Array(calls.count).fill(neutral),
        };
        this.totals.set(metric, of);
      }
      of.exclusive[cnodes[row]!] = exclusive[row]!;
      of.inclusive[cnodes[row]!] = inclusive[row]!;
    }
    for (const [metric, of] of this.totals) {
      const combine = report.metrics[metric]?.combine ?? "sum";
      if (combine === "ratio") continue;
      of.inclusive.set(of.exclusive);
      for (let at = calls.count - 1; at >= 0; at--) {
        const parent = calls.parent[at]!;
        if (parent < calls.count) of.inclusive[parent] = combined(combine, of.inclusive[parent]!, of.inclusive[at]!);
      }
    }
  }

  /** Unpacks the values by location. */
  async addRows(table: Table): Promise<void> {
    const [metrics, cnodes] = [column(table, "metric"), column(table, "cnode")];
    const [least, most] = [column(table, "least"), column(table, "most")];
    const values = table.bytes.get("values") ?? [];
    for (let row = 0; row < table.rows; row++) {
      const bytes = values[row]!;
      this.packed.set(`${metrics[row]}/${cnodes[row]}`, { least: least[row]!, most: most[row]!, bytes });
    }
    for (const key of this.packed.keys()) this.rows.set(key, await this.unpacked(key));
  }

  private async unpacked(key: string): Promise<Float64Array | Uint16Array> {
    const plain = await inflate(this.packed.get(key)!.bytes);
    const count = this.places.count;
    if (this.report.is_exact) {
      return new Float64Array(plain.buffer.slice(plain.byteOffset, plain.byteOffset + 8 * count));
    }
    const steps = new Uint16Array(count);
    for (let at = 0; at < count; at++) steps[at] = plain[at]! * 256 + plain[count + at]!;
    return steps;
  }

  /** The quantity of a metric's name: of a metric, of all waiting, or of all delay costs. */
  quantity(name: string): Quantity | null {
    const { metrics, waiting, delay } = this.report;
    const at = metrics.findIndex((metric) => metric?.name === name);
    if (at >= 0) return this.ofMetric(at, false);
    const parts = name === "waiting" ? waiting : name === "delay" ? delay : [];
    if (parts.length === 0) return null;
    return {
      name, title: name === "waiting" ? "Waiting" : "Delay costs", unit: "seconds", combine: "sum", obstacle: isAnalysed(this.report) ? null : UNKNOWN,
      adds: parts, subtracts: [],
    };
  }

  /** The quantity of a metric: all of it, or what those below it do not have. */
  ofMetric(at: number, isOwn: boolean): Quantity {
    const metric = this.report.metrics[at]!;
    const below = isOwn && metric.combine === "sum" ? this.below(at) : [];
    const { name, title, unit, combine } = metric;
    const { waiting, delay } = this.report;
    const isUnknown = (waiting.includes(at) || delay.includes(at)) && !isAnalysed(this.report);
    const obstacle = metric.obstacle ?? (isUnknown ? UNKNOWN : null);
    return { name, title, unit, combine, obstacle, adds: [at], subtracts: below };
  }

  /** Metrics below another one that have values. */
  below(at: number): number[] {
    const { metrics } = this.report;
    return metrics.flatMap((metric, below) => (metric && metric.parent === at && !metric.obstacle ? [below] : []));
  }

  /** Values by call path over all locations: alone, and with those below. */
  byCall(quantity: Quantity): Totals {
    const key = `${quantity.adds}-${quantity.subtracts}`;
    const known = this.sums.get(key);
    if (known) return known;
    const sum: Totals = {
      exclusive: new Float64Array(this.calls.count), inclusive: new Float64Array(this.calls.count),
    };
    const first = quantity.adds.length === 1 && quantity.subtracts.length === 0 && this.totals.get(quantity.adds[0]!);
    if (first) return first;
    if (quantity.adds.length === 1 && quantity.combine !== "sum") {
      const neutral = neutralOf(quantity.combine);
      sum.exclusive.fill(neutral);
      sum.inclusive.fill(neutral);
    }
    for (const [metrics, sign] of [[quantity.adds, 1], [quantity.subtracts, -1]] as const) {
      for (const metric of metrics) {
        const of = this.totals.get(metric);
        if (!of) continue;
        for (let at = 0; at < this.calls.count; at++) {
          sum.exclusive[at] = sum.exclusive[at]! + sign * of.exclusive[at]!;
          sum.inclusive[at] = sum.inclusive[at]! + sign * of.inclusive[at]!;
        }
      }
    }
    if (quantity.subtracts.length > 0) {
      const tolerance = ROUNDING * this.whole(quantity);
      for (const of of [sum.exclusive, sum.inclusive]) snap(of, tolerance);
    }
    this.sums.set(key, sum);
    return sum;
  }

  /** The value of all call paths and locations; null of a ratio where it has none, or there are several roots: it does not add up. */
  all(quantity: Quantity): number | null {
    const { inclusive } = this.byCall(quantity);
    const { roots } = this.calls;
    if (quantity.combine === "ratio") return roots.length === 1 && !isNothing(inclusive[roots[0]!]!) ? inclusive[roots[0]!]! : null;
    return roots.reduce((sum, root) => combined(quantity.combine, sum, inclusive[root]!), neutralOf(quantity.combine));
  }

  /** The value that a quantity is a part of: without what is subtracted. */
  private whole(quantity: Quantity): number {
    return Math.abs(this.all({ ...quantity, subtracts: [] }) ?? 0);
  }

  /** Whether values by location exist of a quantity at all. */
  hasLocations(quantity: Quantity): boolean {
    return quantity.combine === "sum" && quantity.obstacle === null;
  }

  /** Values by location at some call paths, each alone. */
  byLocation(quantity: Quantity, cnodes: readonly number[]): ByLocation {
    const values = new Float64Array(this.places.count);
    let [all, there, steps] = [0, 0, 0];
    for (const [metrics, sign] of [[quantity.adds, 1], [quantity.subtracts, -1]] as const) {
      for (const metric of metrics) {
        const total = this.totals.get(metric);
        if (!total) continue;
        for (const cnode of cnodes) {
          const sum = total.exclusive[cnode]!;
          if (sum === 0 && !this.packed.has(`${metric}/${cnode}`)) continue;
          all += Math.abs(sum);
          const key = `${metric}/${cnode}`;
          if (this.addRow(key, sign, values)) there += Math.abs(sum);
          const packed = this.report.is_exact ? undefined : this.packed.get(key);
          if (packed) steps += (packed.most - packed.least) / STEPS;
        }
      }
    }
    if (quantity.subtracts.length > 0) snap(values, ROUNDING * this.whole(quantity) + steps);
    return { values, covered: all > 0 ? there / all : 1 };
  }

  private addRow(key: string, sign: number, values: Float64Array): boolean {
    const row = this.rows.get(key);
    if (!row) return false;
    if (row instanceof Float64Array) {
      for (let at = 0; at < values.length; at++) values[at] = values[at]! + sign * row[at]!;
      return true;
    }
    const { least, most } = this.packed.get(key)!;
    const step = (most - least) / STEPS;
    for (let at = 0; at < values.length; at++) values[at] = values[at]! + sign * (least + step * row[at]!);
    return true;
  }
}

/** The value of nothing, which a ratio has none of. */
export function neutralOf(combine: Metric["combine"]): number {
  return combine === "minimum" ? Number.MAX_VALUE : combine === "maximum" ? -Number.MAX_VALUE : combine === "ratio" ? NaN : 0;
}

/** Whether a number is no value of a quantity, but stands for that of nothing. A sum of nothing is one: 0. */
export function isNothing(value: number): boolean {
  return Number.isNaN(value) || Math.abs(value) === Number.MAX_VALUE;
}

/** Two values as one. */
export function combined(combine: Metric["combine"], one: number, other: number): number {
  return combine === "minimum" ? Math.min(one, other) : combine === "maximum" ? Math.max(one, other) : one + other;
}

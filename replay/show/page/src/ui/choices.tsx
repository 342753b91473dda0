// Metrics to choose from, in the order and with the indentation of the metric tree.

import type { Report } from "../data/report.js";

/** Options of all metrics whose values add up over locations, or of some of these. */
export function MetricOptions({ report, only }: { report: Report; only?: readonly number[] }) {
  const options = metricsOf(report).filter(({ at }) => only?.includes(at) ?? true);
  // Where those above are missing, indentation says nothing.
  return <>{options.map(({ at, label }) => <option key={at} value={report.metrics[at]!.name}>{only ? label.trim() : label}</option>)}</>;
}

/** Metrics with what they are called in a menu: who shares a title has that of its parent, too. */
function metricsOf(report: Report): { at: number; label: string }[] {
  const { metrics } = report;
  const parent = (at: number): number | null => {
    const above = metrics[at]!.parent;
    return above !== null && metrics[above] ? above : null;
  };
  const children = new Map<number | null, number[]>();
  metrics.forEach((metric, at) => {
    if (!metric) return;
    const key = parent(at);
    children.set(key, [...(children.get(key) ?? []), at]);
  });
  const found: { at: number; depth: number }[] = [];
  const add = (of: number | null, depth: number) => (children.get(of) ?? []).forEach((at) => {
    const isThere = metrics[at]!.combine === "sum" && !metrics[at]!.obstacle;
    if (isThere) found.push({ at, depth });
    add(at, isThere ? depth + 1 : depth);
  });
  add(null, 0);
  const counted = (names: string[]) => {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  };
  const title = (at: number) => metrics[at]!.title;
  const longer = (at: number) => { const above = parent(at); return above === null ? title(at) : `${title(at)} (${title(above)})`; };
  const titles = counted(found.map(({ at }) => title(at)));
  const longs = counted(found.map(({ at }) => longer(at)));
  return found.map(({ at, depth }) => {
    const isOnly = titles.get(title(at)) === 1 || parent(at) === null;
    const name = isOnly ? title(at) : longs.get(longer(at)) === 1 ? longer(at) : `${longer(at)}: ${metrics[at]!.name}`;
    return { at, label: `${"\u00a0\u00a0".repeat(depth)}${name}` };
  });
}

// The view Ranks: a metric by location, on nodes or in a topology; how unequal it is; and one metric over another.

import { useMemo, useState } from "preact/hooks";

import type { Topology } from "../data/report.js";
import { cnodesOf, quantityOf, usePage } from "../state/context.js";
import { css, cividis, palette } from "../ui/colours.js";
import { MetricOptions } from "../ui/choices.js";
import { chosen, decimals } from "../ui/format.js";
import { Picture } from "../ui/picture.js";
import { Rows } from "../ui/rows.js";
import { cells, type Cell } from "./cells.js";
import { Rest } from "./rest.js";
import { Scatter } from "./scatter.js";

/** Bins of the histogram, as the command ranks has them. */
const BINS = 8;

export function Ranks() {
  const page = usePage();
  const { data, state } = page;
  const { severities, places, report } = data;
  const quantity = quantityOf(page);
  const cnodes = useMemo(() => cnodesOf(page), [state.path, state.isAlone, data]);
  const by = useMemo(
    () => (quantity && severities.hasLocations(quantity) ? severities.byLocation(quantity, cnodes) : null),
    [quantity?.name, state.isOwn, cnodes, page.version],
  );
  const axes = useMemo(() => axesOfMode(state.mode, report.topologies), [state.mode, report]);
  if (!quantity) return null;
  if (!by) {
    return (
      <div class="ranks">
        <div class="modes"><Choice page={page} /></div>
        <p class="limit">{quantity.title}: {quantity.obstacle ?? "values of this metric do not add up over locations"}. Choose another metric.</p>
      </div>
    );
  }
  const all = severities.all(quantity);
  const known = Array.from({ length: places.count }, (_, at) => at).filter((at) => places.known[at] === 1 && places.kind[at] !== 2);
  const unknown = Array.from({ length: places.count }, (_, at) => at).filter((at) => places.known[at] !== 1 && places.kind[at] !== 2).length;
  const sorted = known.map((at) => by.values[at]!).sort((a, b) => a - b);
  const most = Math.max(0, sorted[sorted.length - 1] ?? 0);
  const text = (value: number) => chosen(value, quantity.unit, state, report, all, decimals(most));
  const isTopology = state.order === "topology" && report.topologies.length > 0;
  // Places of a topology may have several locations, which add up.
  const spots = isTopology ? cells(data, WIDTH, axes).cells.filter((it) => !it.isUnknown) : [];
  const largest = isTopology ? spots.reduce((all, it) => Math.max(all, sumOf(it, by.values)), 0) : most;
  const isSummed = spots.some((it) => it.locations.length > 1);
  return (
    <div class="ranks">
      <div class="modes">
        <Choice page={page} />
        <label>on{" "}
          <select value={isTopology ? "topology" : "node"} onChange={(event) => page.change({ order: event.currentTarget.value as "node" | "topology", mode: "" })}>
            <option value="node">nodes</option>
            {report.topologies.length > 0 && <option value="topology">topology</option>}
          </select>
        </label>
        {isTopology && <Axes axes={axes} change={(next) => page.change({ mode: modeOfAxes(next) })} />}
        <span class="limit">{state.path ? "of the selected call path" : "of the whole program"}</span>
      </div>
      {by.covered < 0.9995 && <p class="limit">{severities.isComplete ? `${(100 * by.covered).toFixed(1)} % of this value is in the page by location; of the rest it has sums and a few numbers.` : "loading"}</p>}
      {by.covered < 0.9995 && severities.isComplete && <Rest quantity={quantity} cnodes={cnodes} />}
      <CellMap values={by.values} largest={largest} text={text} title={quantity.title} isTopology={isTopology} axes={axes} />
      <p class="scale"><span>{text(0)}</span><Ramp /><span>{text(largest)}</span>{isSummed && <span class="limit"> sums of the locations at each place</span>}{unknown > 0 && <span class="limit"> hatched: {unknown} without any event, unknown</span>}</p>
      <div class="columns">
        <section aria-label="Distribution">
          <h2>How unequal</h2>
          <Distribution sorted={sorted} text={text} />
          <Histogram sorted={sorted} text={text} title={quantity.title} />
        </section>
        <section aria-label="Largest">
          <h2>Largest</h2>
          <Rows
            name="Largest values" limit={10} rows={[...known].sort((a, b) => by.values[b]! - by.values[a]! || a - b)}
            selected={(at) => at === state.location} onSelect={(at) => page.change({ location: at })}
            columns={[
              { title: "who", cell: (at) => places.name(at) },
              { title: quantity.title, cell: (at) => text(by.values[at]!), isNumber: true },
            ]}
          />
        </section>
      </div>
      <Scatter quantity={quantity} cnodes={cnodes} known={known} />
    </div>
  );
}

/** The metric that is shown. */
export function Choice({ page }: { page: ReturnType<typeof usePage> }) {
  const { report } = page.data;
  return (
    <label>Metric{" "}
      <select value={page.state.metric} onChange={(event) => page.change({ metric: event.currentTarget.value, isOwn: false })}>
        {report.waiting.length > 0 && <option value="waiting">Waiting (all)</option>}
        <MetricOptions report={report} />
      </select>
    </label>
  );
}

/** What of a topology is shown: the dimensions across and down, and the slices of others, which are summed if they have none. */
export interface AxesOf { topology: number; x: number; y: number; slice: Record<number, number> }

/** The mode has the topology, the dimensions across and down, and slices: `0.2.1.0-3`. */
function axesOfMode(mode: string, topologies: Topology[]): AxesOf {
  const [topology = 0, x, y, ...slices] = mode.split(".");
  const at = Number(topology) < topologies.length ? Number(topology) : 0;
  const sizes = topologies[at]?.dimensions.map((it) => it.size) ?? [];
  const [across, down] = [x, y].map((it) => (/^\d$/.test(it ?? "") && Number(it) < sizes.length ? Number(it) : -1));
  const slice: Record<number, number> = {};
  for (const it of slices) {
    const found = /^(\d)-(\d{1,9})$/.exec(it);
    if (found && Number(found[2]) < (sizes[Number(found[1])] ?? 0)) slice[Number(found[1])] = Number(found[2]);
  }
  return { topology: at, x: across!, y: across === down ? -1 : down!, slice };
}

function modeOfAxes({ topology, x, y, slice }: AxesOf): string {
  const dimension = (at: number) => (at < 0 ? "+" : String(at));
  const slices = Object.entries(slice).filter(([, at]) => at >= 0).map(([of, at]) => `.${of}-${at}`);
  return `${topology}.${dimension(x)}.${dimension(y)}${slices.join("")}`;
}

function Axes(props: { axes: AxesOf; change: (axes: AxesOf) => void }) {
  const { report } = usePage().data;
  const { axes, change } = props;
  const { dimensions } = report.topologies[axes.topology]!;
  const [x, y] = axesOf(axes, dimensions.length);
  const name = (at: number) => dimensions[at]?.name || `dimension ${at}`;
  const choose = (label: string, value: number, set: (at: number) => void) => (
    <label>{label}{" "}
      <select value={value} onChange={(event) => set(Number(event.currentTarget.value))}>
        {dimensions.map((_, at) => <option key={at} value={at}>{name(at)}</option>)}
      </select>
    </label>
  );
  return (
    <>
      {report.topologies.length > 1 && (
        <select aria-label="Topology" value={axes.topology} onChange={(event) => change({ topology: Number(event.currentTarget.value), x: -1, y: -1, slice: {} })}>
          {report.topologies.map((it, at) => <option key={at} value={at}>{it.name || `topology ${at}`}</option>)}
        </select>
      )}
      {dimensions.length > 1 && choose("across", x, (at) => change({ ...axes, x: at, y: at === y ? x : y }))}
      {dimensions.length > 1 && choose("down", y, (at) => change({ ...axes, y: at, x: at === x ? y : x }))}
      {dimensions.map((dimension, at) => at !== x && at !== y && (
        <label key={at}>{name(at)}{" "}
          <select value={axes.slice[at] ?? -1} onChange={(event) => change({ ...axes, slice: { ...axes.slice, [at]: Number(event.currentTarget.value) } })}>
            <option value={-1}>all, summed</option>
            {Array.from({ length: Math.min(dimension.size, 4096) }, (_, place) => <option key={place} value={place}>{place}</option>)}
          </select>
        </label>
      ))}
    </>
  );
}

/** The dimensions that go across and down: the last two, if nobody has chosen. */
export function axesOf(axes: AxesOf, count: number): [number, number] {
  const x = axes.x >= 0 ? axes.x : count - 1;
  return [x, axes.y >= 0 ? axes.y : count < 2 ? -1 : x === count - 2 ? count - 1 : count - 2];
}

/** The width of maps before it is known. */
const WIDTH = 800;

/** The value of a cell. */
function sumOf(cell: Cell, values: Float64Array): number {
  return cell.locations.reduce((sum, at) => sum + values[at]!, 0);
}

interface MapProps { values: Float64Array; largest: number; text: (value: number) => string; title: string; isTopology: boolean; axes: AxesOf }

function CellMap({ values, largest, text, title, isTopology, axes }: MapProps) {
  const page = usePage();
  const { places } = page.data;
  const [width, setWidth] = useState(WIDTH);
  const layout = useMemo(() => cells(page.data, width, isTopology ? axes : null), [page.data, width, isTopology, axes]);
  const value = (cell: Cell) => sumOf(cell, values);
  const words = (cell: Cell | undefined) => {
    if (!cell) return "";
    const first = cell.locations[0]!;
    const who = cell.locations.length === 1 ? places.name(first) : `${cell.locations.length} locations, the first ${places.name(first)}`;
    return `${who}${cell.position ? ` at (${cell.position.join(", ")})` : ""}: ${cell.isUnknown ? "unknown, no events" : text(value(cell))}`;
  };
  const at = (x: number, y: number) => layout.cells.find((it) => it.x <= x && x < it.x + layout.size && it.y <= y && y < it.y + layout.size);
  const selected = layout.cells.findIndex((it) => page.state.location !== null && it.locations.includes(page.state.location));
  return (
    <Picture
      name={`${title} by location: arrow keys move`} height={layout.height}
      draw={({ context, width: wide }) => {
        if (Math.abs(wide - width) > 1) setTimeout(() => setWidth(wide));
        const colours = palette();
        context.fillStyle = colours.dim;
        for (const box of layout.boxes) {
          if (box.name) context.fillText(box.name, box.x, box.y - 4, Math.max(60, box.width));
          context.strokeStyle = colours.line;
          context.strokeRect(box.x - 1.5, box.y - 1.5, box.width + 3, box.height + 3);
        }
        const gap = layout.size > 6 ? 1 : 0;
        for (const cell of layout.cells) {
          const side = layout.size - gap;
          if (cell.isUnknown) {
            context.strokeStyle = colours.line;
            context.beginPath();
            for (let shift = 0; shift < 2 * side; shift += 4) {
              context.moveTo(cell.x + Math.max(0, shift - side), cell.y + Math.min(side, shift));
              context.lineTo(cell.x + Math.min(side, shift), cell.y + Math.max(0, shift - side));
            }
            context.stroke();
            continue;
          }
          context.fillStyle = css(cividis(largest > 0 ? Math.max(0, value(cell)) / largest : 0));
          context.fillRect(cell.x, cell.y, side, side);
        }
        const now = layout.cells[selected];
        if (now) {
          context.strokeStyle = colours.focus;
          context.lineWidth = 3;
          context.strokeRect(now.x - 1, now.y - 1, layout.size + 1, layout.size + 1);
          context.lineWidth = 1;
        }
        return { cells: layout.cells.length, unknown: layout.cells.filter((it) => it.isUnknown).length, words: words(now) };
      }}
      wordsAt={(x, y) => words(at(x, y))}
      onClick={(x, y) => { const cell = at(x, y); if (cell) page.change({ location: cell.locations[0]! }); }}
      onKey={(key) => {
        const now = layout.cells[Math.max(0, selected)];
        if (!now) return false;
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
        if (!step) return false;
        const size = layout.size;
        const next = at(now.x + step[0]! * size + size / 2, now.y + step[1]! * size + size / 2) ??
          layout.cells[Math.max(0, Math.min(layout.cells.length - 1, Math.max(0, selected) + step[0]! + step[1]!))];
        if (next) {
          page.change({ location: next.locations[0]! });
          page.say(words(next));
        }
        return true;
      }}
    />
  );
}

/** The colour scale, from little to much. */
export function Ramp() {
  return (
    <svg width="160" height="14" viewBox="0 0 160 14" aria-hidden="true">
      {Array.from({ length: 32 }, (_, at) => <rect key={at} class="plain" x={at * 5} y="0" width="5" height="14" fill={css(cividis(at / 31))} />)}
    </svg>
  );
}

/** A quantile, as the command ranks computes it: between neighbours in proportion. */
function quantile(sorted: readonly number[], part: number): number {
  const at = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return low + (high - low) * (at % 1);
}

function Distribution({ sorted, text }: { sorted: readonly number[]; text: (value: number) => string }) {
  if (sorted.length === 0) return null;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const rows: [string, string][] = [
    ["mean", text(mean)], ["least", text(sorted[0]!)], ["quarter", text(quantile(sorted, 0.25))], ["median", text(quantile(sorted, 0.5))],
    ["three quarters", text(quantile(sorted, 0.75))], ["most", text(sorted[sorted.length - 1]!)],
    ["most / mean", mean > 0 ? (sorted[sorted.length - 1]! / mean).toFixed(2) : "·"],
  ];
  return <table class="distribution"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td class="number">{value}</td></tr>)}</tbody></table>;
}

function Histogram({ sorted, text, title }: { sorted: readonly number[]; text: (value: number) => string; title: string }) {
  const [least, most] = [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0];
  if (!(most > least)) return null;
  const counts = new Array<number>(BINS).fill(0);
  for (const value of sorted) {
    const bin = Math.min(BINS - 1, Math.floor(((value - least) / (most - least)) * BINS));
    counts[bin] = counts[bin]! + 1;
  }
  const largest = Math.max(...counts);
  const edge = (bin: number) => least + ((most - least) * bin) / BINS;
  return (
    <table class="histogram">
      <caption class="limit">{title}: how many have how much</caption>
      <tbody>
        {counts.map((count, bin) => (
          <tr key={bin}>
            <td class="number">{text(edge(bin))}</td><td class="number">{text(edge(bin + 1))}</td><td class="number">{count}</td>
            <td><svg width="160" height="12" viewBox="0 0 160 12" aria-hidden="true">{count > 0 && <rect x="0" y="1" height="10" width={Math.max(1, (160 * count) / largest)} class="c-messages" />}</svg></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}


// The view Time: locations over time, from the whole run down to single calls and messages.

import { useEffect, useMemo, useState } from "preact/hooks";

import { NOTHING, STEPS } from "../../data/grid.js";
import type { Data } from "../../data/load.js";
import { usePage } from "../../state/context.js";
import { ORDERS } from "../../state/state.js";
import { seconds, share } from "../../ui/format.js";
import { Picture } from "../../ui/picture.js";
import { AXIS, LEFT, draw } from "./draw.js";
import { MESSAGES, callAt, messagesIn, waitsOf } from "./events.js";
import type { Mode } from "./heat.js";
import { levelOf } from "./heat.js";
import { Legend } from "./legend.js";
import { Listed } from "./listed.js";
import { About, ask } from "./known.js";
import { order } from "./order.js";
import { fitWait, show, showRows, visible, zoom } from "./window.js";

/** Letters of the mode: c critical path, m messages; a class of time or the share of waiting behind a dot. */
function modeOf(words: string): { hasCritical: boolean; hasMessages: boolean; what: string } {
  const [flags = "", what = ""] = words.split(".", 2);
  return { hasCritical: flags.includes("c"), hasMessages: !flags.includes("n"), what };
}

export function TimeView() {
  const page = usePage();
  const { data, state } = page;
  const { report, places } = data;
  const [cursor, setCursor] = useState<{ row: number; at: number } | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const rows = useMemo(() => order(data, state.order), [data, state.order, page.version]);
  const rowOf = useMemo(() => new Map(rows.map((location, row) => [location, row])), [rows]);
  const view = visible(page);
  const flags = modeOf(state.mode);
  const change = (more: Partial<typeof flags>) => {
    const { hasCritical, hasMessages, what } = { ...flags, ...more };
    page.change({ mode: `${hasCritical ? "c" : ""}${hasMessages ? "" : "n"}${what ? `.${what}` : ""}` });
  };
  const number = report.classes.findIndex((it) => it.name === flags.what);
  const mode: Mode = flags.what === "share" ? "share" : number >= 0 ? number : "class";
  const count = view.last - view.first;
  const height = Math.max(150, Math.min(440, count * 46)) + AXIS;
  const per = report.ticks_per_second;
  let width = 1;
  const part = (x: number) => Math.max(0, Math.min(1, (x - LEFT) / width));
  const rowAt = (y: number) => Math.min(view.last - 1, view.first + Math.floor((Math.max(0, y) / (height - AXIS)) * count));
  const words = (row: number, at: number) => describe(data, rows, row, view.begin + at * (view.end - view.begin), view, state.order === "number", height - AXIS);
  const fit = () => {
    const wait = state.wait === null ? null : waitsOf(data)[state.wait - 1];
    if (!wait) return page.change({ time: null, rows: null });
    fitWait(page, wait, {});
  };
  // What rows are shown around: the cursor, or who is selected.
  const middle = () => {
    const selected = state.location === null ? undefined : rowOf.get(state.location);
    const row = cursor?.row ?? selected ?? view.first + count / 2;
    return row >= view.first && row < view.last ? row : selected ?? view.first + count / 2;
  };
  const move = (columns: number, lines: number) => {
    const now = cursor ?? { row: view.first, at: 0.5 };
    const next = { row: Math.max(view.first, Math.min(view.last - 1, now.row + lines)), at: Math.max(0, Math.min(1, now.at + columns / 100)) };
    setCursor(next);
    page.say(words(next.row, next.at));
    return true;
  };
  const pan = (by: number) => show(page, view.begin + by * (view.end - view.begin), view.end + by * (view.end - view.begin), true);
  const onKey = (key: string): boolean => {
    const at = cursor?.at ?? 0.5;
    switch (key.length === 1 ? key.toLowerCase() : key) {
      case "ArrowLeft": return move(-1, 0);
      case "ArrowRight": return move(1, 0);
      case "ArrowUp": return move(0, -1);
      case "ArrowDown": return move(0, 1);
      case "w": case "+": zoom(page, 0.5, at, true); return true;
      case "s": case "-": zoom(page, 2, at, true); return true;
      case "a": pan(-0.25); return true;
      case "d": pan(0.25); return true;
      case "f": fit(); return true;
      case "c": change({ hasCritical: !flags.hasCritical }); return true;
      case "Enter": {
        const row = cursor?.row ?? view.first;
        page.change({ location: rows[row]! });
        return true;
      }
      default: return false;
    }
  };
  useEffect(() => ask(data, view, rows), [view.begin, view.end, view.first, view.last, rows, page.version]);
  const waits = data.tables.get("waits")?.rows ?? 0;
  const messages = messagesIn(data, view).length;
  const cells = data.grid && levelOf(data.grid, view, height - AXIS, state.order === "number");
  return (
    <div class="time">
      <div class="modes">
        <label>Colour{" "}
          <select value={flags.what} onChange={(event) => change({ what: event.currentTarget.value })}>
            <option value="">class with most time</option>
            <option value="share">share of waiting</option>
            {report.classes.map((it) => <option key={it.name} value={it.name}>{it.title}</option>)}
          </select>
        </label>
        <label>Rows{" "}
          <select value={state.order} onChange={(event) => page.change({ order: event.currentTarget.value as (typeof ORDERS)[number] })}>
            <option value="number">by number</option>
            <option value="node">by node</option>
            <option value="waiting">by waiting</option>
            {report.topologies.length > 0 && <option value="topology">in the topology</option>}
          </select>
        </label>
        <button type="button" onClick={() => zoom(page, 0.5, cursor?.at ?? 0.5, false)} aria-label="Zoom in">+</button>
        <button type="button" onClick={() => zoom(page, 2, cursor?.at ?? 0.5, false)} aria-label="Zoom out">−</button>
        {places.count > 16 && <button type="button" onClick={() => { const row = middle(); showRows(page, row - count / 4, row + count / 4, false); }}>fewer rows</button>}
        {state.rows && <button type="button" onClick={() => showRows(page, view.first - count / 2, view.last + count / 2, false)}>more rows</button>}
        <button type="button" onClick={fit}>{state.wait === null ? "whole run" : `wait ${state.wait}`}</button>
        {(state.time || state.rows) && <button type="button" onClick={() => page.change({ time: null, rows: null })}>everything</button>}
        {data.tables.has("critical") && <label><input type="checkbox" checked={flags.hasCritical} onChange={() => change({ hasCritical: !flags.hasCritical })} /> critical path</label>}
        {(data.tables.has("window_messages") || data.served) && <label><input type="checkbox" checked={flags.hasMessages} onChange={() => change({ hasMessages: !flags.hasMessages })} /> messages</label>}
      </div>
      <Picture
        name="Locations over time: arrow keys move, W and S zoom, A and D go on, F fits the selected wait, C the critical path"
        height={height}
        draw={(brush) => {
          width = brush.width - LEFT - 4;
          const told = draw(
            { data, view, rows, rowOf, isByNumber: state.order === "number", mode, hasCritical: flags.hasCritical, hasMessages: flags.hasMessages, wait: state.wait, cursor, drag },
            brush,
          );
          return { ...told, words: cursor ? words(cursor.row, cursor.at) : "" };
        }}
        wordsAt={(x, y) => (x < LEFT || y > height - AXIS ? "" : words(rowAt(y), part(x)))}
        onClick={(x, y) => {
          const [row, at] = [rowAt(y), part(x)];
          setCursor({ row, at });
          const near = waitNear(data, rows[row]!, view.begin + at * (view.end - view.begin), (8 / width) * (view.end - view.begin));
          page.change({ location: rows[row]!, ...(near === null ? {} : { wait: near }) });
        }}
        onDrag={(from, to, isDone) => {
          setDrag(isDone ? null : [from[0], to[0]]);
          if (!isDone) return;
          const [a, b] = [part(Math.min(from[0], to[0])), part(Math.max(from[0], to[0]))];
          show(page, view.begin + a * (view.end - view.begin), view.begin + b * (view.end - view.begin), false);
        }}
        onDouble={fit} isMain
        onWheel={(x, delta) => zoom(page, delta > 0 ? 1.25 : 0.8, part(x), true)}
        onKey={onKey}
      />
      <p class="limit">
        {waits > 0 && `Circles are the ${waits} severest waits of the whole run. `}
        <About view={view} rows={rows} />{" "}
        {cells && cells.level.bin_ticks > (view.end - view.begin) / 500 && `Cells are bins of ${seconds(cells.level.bin_ticks / per)}. `}
        {messages > MESSAGES && `${MESSAGES} of ${messages} messages are drawn. `}
      </p>
      <Listed view={view} rowOf={rowOf} />
      <Legend view={view} rows={rows} isByNumber={state.order === "number"} per={per} />
    </div>
  );
}

/** The severest wait at a place; null for none. */
function waitNear(data: Data, location: number, time: number, room: number): number | null {
  const near = waitsOf(data).filter((it) => it.location === location && it.begin - room <= time && time <= it.begin + it.ticks + room);
  return near[0]?.number ?? null;
}

/** What is at a place, in words. */
function describe(
  data: Data, rows: readonly number[], row: number, time: number, view: ReturnType<typeof visible>, isByNumber: boolean, pixels: number,
): string {
  const { report, places, grid } = data;
  const per = report.ticks_per_second;
  const cells = grid && levelOf(grid, view, pixels, isByNumber);
  const location = rows[row] ?? 0;
  const call = callAt(data, view, location, time);
  if (call) {
    return `${places.name(location)}, ${seconds(call.enter / per)} to ${seconds(call.leave / per)}: ${data.calls.name(call.cnode)}, ${seconds((call.leave - call.enter) / per)}`;
  }
  if (!cells) return places.name(location);
  const { span, bins, bin_ticks } = cells.level;
  const group = Math.floor(location / span);
  const bin = Math.max(0, Math.min(bins - 1, Math.floor(time / bin_ticks)));
  const at = group * bins + bin;
  const who = places.range(group * span, Math.min(span, places.count - group * span));
  const when = `${seconds((bin * bin_ticks) / per)} to ${seconds(((bin + 1) * bin_ticks) / per)}`;
  if (span === 1 && places.known[location] === 0) return `${who}: unknown, no events`;
  const main = cells.main[at]!;
  const waiting = cells.share[at]! / STEPS;
  const what = main === NOTHING ? "nothing" : report.classes[main]!.title;
  const ticks = main === NOTHING ? null : (cells.ticks?.get(main)?.[at] ?? null);
  const part = ticks === null ? "" : `${share(ticks / (bin_ticks * grid.members(cells.level, group)))} `;
  const rest = main !== NOTHING && report.classes[main]!.is_waiting && ticks !== null ? "" : `, ${ticks === null ? "about " : ""}${share(waiting)} waiting`;
  return `${who}, ${when}: ${main === NOTHING ? what : `${ticks === null ? "mostly " : ""}${part}${what}${rest}`}`;
}

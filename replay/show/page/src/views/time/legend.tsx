// Legend of the time view: the sums of what is visible, by class.

import { usePage } from "../../state/context.js";
import { column } from "../../data/table.js";
import { bytes, count, decimals, seconds, share } from "../../ui/format.js";
import type { Visible } from "./window.js";

export function Legend(props: { view: Visible; rows: readonly number[]; isByNumber: boolean; per: number }) {
  const { data } = usePage();
  const { view, rows, per } = props;
  if (!data.grid) return <p class="limit">{data.report.levels.length > 0 ? "loading" : "This report has no time by location."}</p>;
  // Rows in another order are no neighbours: each counts alone.
  const isWhole = view.first === 0 && view.last === rows.length;
  const pieces: [number, number][] = props.isByNumber || isWhole
    ? [[view.first, view.last]]
    : rows.slice(view.first, view.last).map((location) => [location, location + 1]);
  const ticks = new Float64Array(data.report.classes.length);
  let isExact = true;
  for (const [first, last] of pieces) {
    const sums = data.grid.sums(first, last, view.begin, view.end);
    sums.ticks.forEach((value, at) => (ticks[at] = ticks[at]! + value));
    isExact &&= sums.isExact;
  }
  const all = ticks.reduce((sum, value) => sum + value, 0);
  const order = data.report.classes.map((_, at) => at).filter((at) => ticks[at] !== 0).sort((a, b) => ticks[b]! - ticks[a]!);
  const digits = decimals(Math.max(0, ...ticks) / per);
  return (
    <>
    <table class="legend" data-exact={isExact}>
      <caption class="limit">Visible: {isExact ? "" : "about, of the main class of each cell"}</caption>
      <tbody>
        {order.map((at) => {
          const it = data.report.classes[at]!;
          return (
            <tr key={it.name} data-class={it.name} data-ticks={ticks[at]}>
              <td><svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><rect x="1" y="1" width="12" height="12" class={`c-${it.colour}`} /></svg></td>
              <th scope="row">{it.title}</th>
              <td class="number">{share(ticks[at]! / all)}</td>
              <td class="number">{seconds(ticks[at]! / per, digits)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
    <Flow view={view} />
    </>
  );
}

/** Messages and collective operations that begin in the visible bins, of all locations. */
function Flow({ view }: { view: Visible }) {
  const { data } = usePage();
  const table = data.tables.get("flow");
  const bin = data.report.levels[data.report.levels.length - 1]?.bin_ticks;
  if (!table || !bin) return null;
  const [first, last] = [Math.floor(view.begin / bin), Math.min(table.rows, Math.ceil(view.end / bin))];
  const sum = (name: string) => {
    let all = 0;
    const values = column(table, name);
    for (let row = first; row < last; row++) all += values[row] ?? 0;
    return all;
  };
  const [messages, operations] = [sum("messages"), sum("collectives")];
  const inFlight = column(table, "in_flight")[first] ?? 0;
  const some = (number: number, what: string) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
  return (
    <p class="limit flow">
      Begun in this time, by all: {some(messages, "message")} of {bytes(sum("bytes"))} together,{" "}
      {some(operations, "collective operation")}; under way at its begin: {some(inFlight, "message")}.
    </p>
  );
}

// Panel of the selection: its values, its explanation, where it is in the source, and the command that prints the same.

import { useMemo, useState } from "preact/hooks";

import { cnodeOf, cnodesOf, quantityOf, usePage, type Page } from "../state/context.js";
import { digits } from "../state/state.js";
import { chosen, ofUnit } from "../ui/format.js";
import { listedWaits, shownWait, waitRows } from "../views/waits.js";
import { Explain } from "../ui/explain.js";

export function Panel() {
  const page = usePage();
  const { severities, calls, places, report } = page.data;
  const quantity = quantityOf(page);
  const cnode = cnodeOf(page);
  const cnodes = useMemo(() => cnodesOf(page), [page.state.path, page.state.isAlone, page.data]);
  const by = useMemo(
    () => (quantity && severities.hasLocations(quantity) ? severities.byLocation(quantity, cnodes) : null),
    [quantity?.name, page.state.isOwn, cnodes, page.version],
  );
  if (!quantity) return null;
  const explanation = page.data.explanations.find((it) => it.metric === quantity.name);
  const totals = severities.byCall(quantity);
  const value = cnode === null ? severities.all(quantity) : (page.state.isAlone ? totals.exclusive : totals.inclusive)[cnode]!;
  const all = severities.all(quantity);
  const place = cnode === null ? null : calls.place(cnode);
  const { location } = page.state;
  return (
    <aside class="panel" aria-label="Selection">
      <button type="button" class="close" aria-label="Close the selection" onClick={() => page.change({ isClosed: true })}>×</button>
      <h2>Selection</h2>
      <table>
        <tbody>
          <tr>
            <th scope="row">{quantity.title}{page.state.isOwn ? " (own)" : ""}</th>
            <td class="number" id="panel-value">{quantity.obstacle ?? chosen(value, quantity.unit, page.state, report, all)}</td>
          </tr>
          {by && location !== null && location < places.count && (
            <tr>
              <th scope="row">of {places.name(location)}</th>
              <td class="number" id="panel-location">
                {places.known[location] === 0 ? "unknown" : by.covered < 0.9995 ? "not in the page" : ofUnit(by.values[location]!, quantity.unit)}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      {cnode !== null && (
        <p>
          <code>{calls.path(cnode)}</code>{page.state.isAlone ? " alone" : ", with what it calls"}
          {place && <span>, begins at <code>{place}</code></span>}{" "}
          <button type="button" onClick={() => page.change({ path: null, isAlone: false })}>whole program</button>
        </p>
      )}
      <Commands page={page} metric={quantity.name} isOwn={quantity.subtracts.length > 0} />
      {explanation && <details open><summary>What it means</summary><Explain of={explanation} /></details>}
    </aside>
  );
}

/** Words of a shell that mean nothing else. */
function quoted(text: string): string {
  return /^[\w./=:+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** What the command matrix compares. */
const MATRIX = ["bytes", "messages"];

function Commands({ page, metric, isOwn }: { page: Page; metric: string; isOwn: boolean }) {
  const { calls, report, places } = page.data;
  const [copied, setCopied] = useState("");
  const cnode = cnodeOf(page);
  const file = quoted(report.file);
  const path = cnode === null ? "" : ` --path ${quoted(calls.glob(cnode))}`;
  const { location, view, isAlone, mode, time } = page.state;
  const isOfRanks = view === "ranks" || (location !== null && location < places.count);
  const shown = view === "waits" ? shownWait(page, listedWaits(page, waitRows(page.data)).shown)?.number : view === "time" ? page.state.wait : null;
  const [first = ""] = mode.split(".");
  const timed = report.classes.find((it) => it.name === mode.split(".")[1]);
  // No command has a metric without those below it, or ranks in a call path without what it calls.
  const command =
    view === "overview" ? `replay-show ${file}`
    : view === "waits" || shown ? `replay-show waits ${file}${shown ? ` -i ${shown}` : ""}`
    : view === "time" ? `replay-show time ${file}${timed ? ` -m ${quoted(timed.name)}` : ""}${time ? ` --from ${digits(time[0])} --to ${digits(time[1])}` : ""}`
    : view === "messages" ? `replay-show matrix ${file}${MATRIX.includes(first) ? ` -m ${first}` : ""}`
    : view === "metrics" ? (page.data.explanations.some((it) => it.metric === metric) ? `replay-show explain ${metric}` : null)
    : view === "iterations" || isOwn || (isOfRanks && isAlone && cnode !== null) ? null
    : isOfRanks ? `replay-show ranks ${file} -m ${quoted(metric)}${path}`
    : mode === "flame" || mode === "" ? `replay-show tree ${file} -m ${quoted(metric)}${path}${isAlone && cnode !== null ? " --exclusive" : ""}`
    : mode === "callers" ? `replay-show tree ${file} -m ${quoted(metric)} --callers` : null;
  const copy = (text: string, what: string) => {
    void navigator.clipboard?.writeText(text).then(() => setCopied(`${what} copied`), () => setCopied("copying is not allowed here"));
  };
  return (
    <p class="commands">
      {command !== null && (
        <>
          <code>{command}</code><br />
          <button type="button" onClick={() => copy(command, "command")}>copy command</button>{" "}
        </>
      )}
      <button type="button" onClick={() => copy(location_(), "link")}>copy link</button> <span role="status">{copied}</span>
    </p>
  );
}

function location_(): string {
  return window.location.href;
}

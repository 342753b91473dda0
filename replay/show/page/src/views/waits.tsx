// The view Waits: the severest waits, and one of them with both sides and its chain of causes.

import { useMemo } from "preact/hooks";

import type { Data } from "../data/load.js";
import { NONE, column } from "../data/table.js";
import { usePage, type Page } from "../state/context.js";
import { INITIAL } from "../state/state.js";
import { bytes, cut, decimals, seconds } from "../ui/format.js";
import { Rows } from "../ui/rows.js";
import { Sides } from "./sides.js";
import { waitsOf } from "./time/events.js";
import { fitWait } from "./time/window.js";

/** Letters of a function in the table. */
const NAME = 40;

/** A wait, as the command waits numbers it. Times are seconds. */
export interface WaitRow {
  number: number;
  metric: number;
  title: string;
  isCompletion: boolean;
  location: number;
  cnode: number;
  begin: number;
  seconds: number;
  all: number;
  cause: number;
  causeCnode: number;
  causeEnter: number;
  origin: number;
  bytes: number;
  tag: number;
  communicator: number;
  members: number;
}

/** A step of a chain. */
export interface HopRow {
  location: number; cnode: number; begin: number; seconds: number; cause: number; causeCnode: number; causeTime: number;
}

/** All waits. */
export function waitRows(data: Data): WaitRow[] {
  const table = data.tables.get("waits") ?? null;
  const per = data.report.ticks_per_second;
  const of = (name: string) => column(table, name);
  const [metric, completion, location, cnode, begin, ticks, all] =
    [of("metric"), of("completion"), of("location"), of("cnode"), of("begin"), of("ticks"), of("all_ticks")];
  const [cause, causeCnode, causeEnter, origin] = [of("cause_location"), of("cause_cnode"), of("cause_enter"), of("origin_cnode")];
  const [size, tag, communicator, members] = [of("bytes"), of("tag"), of("communicator"), of("members")];
  return Array.from({ length: table?.rows ?? 0 }, (_, at) => ({
    number: at + 1, metric: metric[at]!, title: titleOf(data, metric[at]!), isCompletion: completion[at] === 1,
    location: location[at]!, cnode: cnode[at]!, begin: begin[at]! / per, seconds: ticks[at]! / per, all: all[at]! / per,
    cause: cause[at]!, causeCnode: causeCnode[at]!, causeEnter: causeEnter[at]! / per, origin: origin[at]!, bytes: size[at]!,
    tag: tag[at]!, communicator: communicator[at]!, members: members[at]!,
  }));
}

/** The steps of a wait's chain. */
export function hopRows(data: Data, number: number): HopRow[] {
  const table = data.tables.get("hops") ?? null;
  const per = data.report.ticks_per_second;
  const of = (name: string) => column(table, name);
  const [waits, location, cnode, begin, ticks] = [of("wait"), of("location"), of("cnode"), of("begin"), of("ticks")];
  const [cause, causeCnode, causeTime] = [of("cause_location"), of("cause_cnode"), of("cause_time")];
  const found: HopRow[] = [];
  for (let at = 0; at < (table?.rows ?? 0); at++) {
    if (waits[at] !== number - 1) continue;
    found.push({
      location: location[at]!, cnode: cnode[at]!, begin: begin[at]! / per, seconds: ticks[at]! / per, cause: cause[at]!,
      causeCnode: causeCnode[at]!, causeTime: causeTime[at]! / per,
    });
  }
  return found;
}

/** What each that took part did after its own wait, the one that waited first; empty where it is not known. */
export function activities(data: Data, number: number): string[] {
  const table = data.tables.get("activities") ?? null;
  const names = table?.bytes.get("name") ?? [];
  const decoder = new TextDecoder();
  return [...column(table, "wait")].flatMap((wait, at) => (wait === number - 1 ? [decoder.decode(names[at])] : []));
}

function titleOf(data: Data, metric: number): string {
  const name = data.report.metrics[metric]?.name;
  return data.explanations.find((it) => it.metric === name)?.title ?? data.report.metrics[metric]?.title ?? "waiting";
}

/** Whether a metric is another one, or below it. */
function isOf(data: Data, metric: number, name: string): boolean {
  for (let at: number | null = metric; at !== null && at !== NONE; at = data.report.metrics[at]?.parent ?? null) {
    if (data.report.metrics[at]?.name === name) return true;
  }
  return false;
}

/** The waits of a metric; none if there are none. */
export function waitsOfMetric(data: Data, all: readonly WaitRow[], metric: string): WaitRow[] {
  return all.filter((it) => isOf(data, it.metric, metric));
}

/** The waits that the view lists, and what chooses them. */
export function listedWaits({ data, state }: Page, all: readonly WaitRow[]): { shown: readonly WaitRow[]; isChosen: boolean; rank: number | null } {
  const { places } = data;
  // The selected metric chooses if there are any waits of it.
  const ofMetric = waitsOfMetric(data, all, state.metric);
  const isChosen = ofMetric.length > 0 && state.metric !== INITIAL.metric;
  const rank = state.location === null || !state.mode.includes("r") ? null : places.rank(state.location);
  return { shown: (isChosen ? ofMetric : all).filter((it) => rank === null || places.rank(it.location) === rank), isChosen, rank };
}

/** The wait that the view shows: the selected one if it is listed, otherwise the first of the list. */
export function shownWait({ state }: Page, shown: readonly WaitRow[]): WaitRow | undefined {
  return shown.find((it) => it.number === state.wait) ?? shown[0];
}

export function Waits() {
  const page = usePage();
  const { data, state } = page;
  const { calls, places } = data;
  const all = useMemo(() => waitRows(data), [data, page.version]);
  const { shown, isChosen, rank } = listedWaits(page, all);
  const metrics = [...new Map(all.map((it) => [data.report.metrics[it.metric]?.name ?? "", it.title])).entries()];
  const wait = shownWait(page, shown);
  const digits = decimals(Math.max(0, ...all.map((it) => it.seconds)));
  const at = decimals(Math.max(0, ...all.map((it) => it.begin)));
  const name = (cnode: number) => (cnode === NONE ? "?" : cut(calls.name(cnode), NAME));
  return (
    <div class="waits">
      <div class="modes">
        <label>What{" "}
          <select value={isChosen ? state.metric : "waiting"} onChange={(event) => page.change({ metric: event.currentTarget.value, isOwn: false, wait: null })}>
            <option value="waiting">all waits</option>
            {metrics.map(([metric, title]) => <option key={metric} value={metric}>{title}</option>)}
            {isChosen && !metrics.some(([metric]) => metric === state.metric) && <option value={state.metric}>{state.metric}</option>}
          </select>
        </label>
        {state.location !== null && (
          <label>
            <input type="checkbox" checked={rank !== null} onChange={() => page.change({ mode: rank === null ? "r" : "" })} />{" "}
            only of {places.name(state.location)}
          </label>
        )}
        <span class="limit">{shown.length} of the {all.length} severest waits that the report lists</span>
      </div>
      {wait && (
        <section class="one" aria-label="The wait">
          <h2>
            {wait.number} {wait.title} {seconds(wait.seconds)}: {places.who(wait.location)} in {wait.cnode === NONE ? "?" : calls.path(wait.cnode)} at {seconds(wait.begin)}
          </h2>
          <Sides data={data} wait={wait} hops={hopRows(data, wait.number)} activities={activities(data, wait.number)} />
          <p class="limit">
            {[
              wait.isCompletion ? "no wait state: time in the operation after the first rank had left it" : "",
              wait.bytes > 0 && wait.members <= 0 ? `message of ${bytes(wait.bytes)}` : "",
              wait.tag >= 0 && wait.members <= 0 ? `tag ${wait.tag}` : "",
              wait.members > 0 && wait.members !== NONE ? `${wait.members} members waited ${seconds(wait.all)} in all` : "",
              wait.communicator >= 0 && wait.communicator !== NONE ? `on ${communicator(data, wait.communicator)}` : "",
            ].filter((it) => it).join(", ")}
          </p>
          <p>
            {data.grid && <button
              type="button"
              onClick={() => {
                fitWait(page, waitsOf(data)[wait.number - 1]!, { view: "time", wait: wait.number, location: wait.location, mode: "" });
              }}
            >show in Time</button>}{" "}
            {wait.cnode !== NONE && <button type="button" onClick={() => page.change({ view: "calls", path: calls.hash(wait.cnode), isAlone: false, metric: data.report.metrics[wait.metric]?.name ?? "waiting" })}>show in Calls</button>}
          </p>
        </section>
      )}
      <Rows
        name="Severest waits" rows={shown} selected={(it) => it.number === wait?.number} onSelect={(it) => page.change({ wait: it.number })}
        columns={[
          { title: "number", cell: (it) => it.number, key: (it) => it.number, isNumber: true },
          { title: "waited", cell: (it) => seconds(it.seconds, digits), key: (it) => it.seconds, isNumber: true },
          ...(all.some((it) => it.all !== it.seconds) ? [{ title: "all", cell: (it: WaitRow) => seconds(it.all, digits), key: (it: WaitRow) => it.all, isNumber: true }] : []),
          { title: "what", cell: (it) => it.title, key: (it) => it.title },
          { title: "who", cell: (it) => places.who(it.location), key: (it) => it.location },
          { title: "in", cell: (it) => name(it.cnode), key: (it) => name(it.cnode) },
          { title: "at", cell: (it) => seconds(it.begin, at), key: (it) => it.begin, isNumber: true },
          { title: "because of", cell: (it) => (it.isCompletion ? "" : places.who(it.cause)), key: (it) => it.cause },
          { title: "in", cell: (it) => (it.isCompletion ? "" : name(it.origin !== NONE ? it.origin : it.causeCnode)) },
        ]}
      />
    </div>
  );
}

/** The name of a communicator. */
export function communicator(data: Data, number: number): string {
  if (number === NONE) return "several";
  const known = data.report.communicators.find(([it]) => it === number);
  return known?.[1] || `communicator ${number}`;
}

// The view Messages: who sends to whom and on which pairs they wait; sizes; collective operations and who came last.

import { useMemo } from "preact/hooks";

import { NONE, column, type Numbers } from "../data/table.js";
import { usePage, type Page } from "../state/context.js";
import { bytes, seconds } from "../ui/format.js";
import { Rows } from "../ui/rows.js";
import { Matrix } from "./matrix.js";
import { communicator } from "./waits.js";

export const KINDS = [["waiting", "waiting"], ["bytes", "bytes"], ["messages", "messages"]] as const;
export type Kind = (typeof KINDS)[number][0];

/** The mode has what is compared, and the block that is shown: `bytes.3.7`. */
export function modeOf(mode: string, blocks: number): { kind: Kind; block: [number, number] | null } {
  const [kind, source, destination] = mode.split(".");
  const found = KINDS.find(([name]) => name === kind)?.[0] ?? "waiting";
  const isBlock = [source, destination].every((it) => /^\d{1,9}$/.test(it ?? "") && Number(it) < blocks);
  return { kind: found, block: isBlock ? [Number(source), Number(destination)] : null };
}

/** A pair of ranks, as the command matrix has it. */
interface Pair { source: number; destination: number; communicator: number; messages: number; bytes: number; lateSender: number; lateReceiver: number }

export function Messages() {
  const page = usePage();
  const { data, state } = page;
  const each = data.report.ranks_of_block;
  const { kind, block } = modeOf(state.mode, Math.ceil(data.places.groups / each));
  const per = data.report.ticks_per_second;
  const pairs = useMemo(() => {
    const table = data.tables.get("pairs") ?? null;
    const of = (name: string) => column(table, name);
    const [source, destination, comm] = [of("source"), of("destination"), of("communicator")];
    const [messages, size, sender, receiver] = [of("messages"), of("bytes"), of("late_sender"), of("late_receiver")];
    return Array.from({ length: table?.rows ?? 0 }, (_, at): Pair => ({
      source: source[at]!, destination: destination[at]!, communicator: comm[at]!, messages: messages[at]!, bytes: size[at]!,
      lateSender: sender[at]! / per, lateReceiver: receiver[at]! / per,
    }));
  }, [data, page.version]);
  const value = (it: Pair) => (kind === "waiting" ? it.lateSender + it.lateReceiver : it[kind]);
  const isIn = (it: Pair) => !block || (Math.floor(it.source / each) === block[0] && Math.floor(it.destination / each) === block[1]);
  const shown = pairs.filter(isIn).sort((a, b) => value(b) - value(a));
  const rank = (at: number) => (at === NONE ? "others" : data.places.processName(at));
  const change = (next: Kind, at: [number, number] | null) => page.change({ mode: at ? `${next}.${at[0]}.${at[1]}` : next === "waiting" ? "" : next });
  const remark = (name: string) => {
    const words = data.report.incomplete[`replay.${name}.table`];
    return words ? <p class="limit">{words}</p> : null;
  };
  const pointed = (it: number) => (it === 0 ? "·" : seconds(it));
  return (
    <div class="messages">
      <div class="modes" role="group" aria-label="What is compared">
        {KINDS.map(([name, title]) => <button type="button" key={name} aria-pressed={kind === name} onClick={() => change(name, block)}>{title}</button>)}
        {block && <button type="button" onClick={() => change(kind, null)}>all ranks</button>}
      </div>
      {data.tables.has("blocks") && <Matrix kind={kind} block={block} choose={(at) => change(kind, at)} />}
      {data.tables.has("blocks") && <p class="limit">Brighter is more, by its root; bars are what each sent, and received, in all.{each > 1 && !block ? ` A cell is ${each} ranks by ${each}: open one with Enter or a click.` : ""}</p>}
      <h2>Pairs{block ? ` from ${blockName(page, block[0])} to ${blockName(page, block[1])}` : ""}</h2>
      {remark("matrix")}
      <Rows
        name="Pairs of ranks" rows={shown} limit={25}
        onSelect={(it) => { const at = data.places.members[it.destination]?.[0]; if (at !== undefined) page.change({ location: at }); }}
        columns={[
          { title: "from", cell: (it) => rank(it.source), key: (it) => it.source },
          { title: "to", cell: (it) => rank(it.destination), key: (it) => it.destination },
          { title: "on", cell: (it) => communicator(data, it.communicator), key: (it) => it.communicator },
          { title: "messages", cell: (it) => it.messages, key: (it) => it.messages, isNumber: true },
          { title: "bytes", cell: (it) => bytes(it.bytes), key: (it) => it.bytes, isNumber: true },
          { title: "receiver waited", cell: (it) => pointed(it.lateSender), key: (it) => it.lateSender, isNumber: true },
          { title: "sender waited", cell: (it) => pointed(it.lateReceiver), key: (it) => it.lateReceiver, isNumber: true },
        ]}
      />
      <Sizes page={page} />
      <Collectives page={page} />
      {remark("collectives")}
    </div>
  );
}

/** The ranks of a block. */
export function blockName(page: Page, block: number): string {
  const { report, places } = page.data;
  const first = block * report.ranks_of_block;
  const last = Math.min(places.groups, first + report.ranks_of_block) - 1;
  return first === last ? places.processName(first) : `${places.processName(first)}–${places.groupRank[last]}`;
}

/** Sums of messages by class of size, over all call paths that received them. */
function Sizes({ page }: { page: Page }) {
  const { data } = page;
  const table = data.tables.get("sizes");
  if (!table || table.rows === 0) return null;
  const per = data.report.ticks_per_second;
  const of = (name: string) => column(table, name);
  const timed: Numbers = table.numbers.has("timed") ? of("timed") : of("messages");
  const sums = new Map<number, { size: number; messages: number; bytes: number; waited: number; timed: number; fastest: number; transfer: number }>();
  for (let row = 0; row < table.rows; row++) {
    const size = of("class")[row]!;
    const sum = sums.get(size) ?? { size, messages: 0, bytes: 0, waited: 0, timed: 0, fastest: Infinity, transfer: 0 };
    sum.messages += of("messages")[row]!;
    sum.bytes += of("bytes")[row]!;
    sum.waited += of("late_sender")[row]! + of("late_receiver")[row]!;
    sum.timed += timed[row]!;
    if (timed[row]! > 0) sum.fastest = Math.min(sum.fastest, of("fastest")[row]!);
    sum.transfer += of("transfer")[row]!;
    sums.set(size, sum);
  }
  return (
    <section>
      <h2>Sizes</h2>
      <Rows
        name="Messages by size" rows={[...sums.values()].sort((a, b) => a.size - b.size)}
        columns={[
          { title: "size", cell: (it) => (it.size === 0 ? "none" : `under ${bytes(2 ** it.size)}`), key: (it) => it.size },
          { title: "messages", cell: (it) => it.messages, key: (it) => it.messages, isNumber: true },
          { title: "bytes", cell: (it) => bytes(it.bytes), key: (it) => it.bytes, isNumber: true },
          { title: "waited", cell: (it) => (it.waited === 0 ? "·" : seconds(it.waited / per)), key: (it) => it.waited, isNumber: true },
          { title: "fastest", cell: (it) => (it.timed > 0 ? seconds(it.fastest / per) : "·"), isNumber: true },
          { title: "mean", cell: (it) => (it.timed > 0 ? seconds(it.transfer / it.timed / per) : "·"), isNumber: true },
        ]}
      />
      <p class="limit">Sizes are at least half of what they are under. Fastest and mean are of messages for which nobody waited, from the begin of the send to the end of the receive.</p>
    </section>
  );
}

function Collectives({ page }: { page: Page }) {
  const { data } = page;
  const per = data.report.ticks_per_second;
  const table = data.tables.get("collectives") ?? null;
  const of = (name: string) => column(table, name);
  const [comm, region] = [of("communicator"), of("region")];
  const function_ = (at: number) => data.report.regions.name[at] ?? "?";
  const on = (at: number) => (at === NONE ? "none" : communicator(data, at));
  const all = Array.from({ length: table?.rows ?? 0 }, (_, at) => at).filter((at) => function_(region[at]!) !== "MPI_Finalize");
  const last = data.tables.get("last") ?? null;
  const by = (name: string) => column(last, name);
  const [lastComm, lastRegion, process, times, caused] = [by("communicator"), by("region"), by("process"), by("times"), by("caused")];
  const latest = Array.from({ length: last?.rows ?? 0 }, (_, at) => at)
    .filter((at) => function_(lastRegion[at]!) !== "MPI_Finalize").sort((a, b) => caused[b]! - caused[a]!);
  if (all.length === 0) return null;
  return (
    <section>
      <h2>Collective operations</h2>
      <Rows
        name="Collective operations" rows={all.sort((a, b) => of("waiting")[b]! - of("waiting")[a]!)} limit={25}
        columns={[
          { title: "operation", cell: (at) => function_(region[at]!) },
          { title: "on", cell: (at) => on(comm[at]!) },
          { title: "times", cell: (at) => of("calls")[at]!, key: (at) => of("calls")[at]!, isNumber: true },
          { title: "calls", cell: (at) => of("members")[at]!, key: (at) => of("members")[at]!, isNumber: true },
          { title: "sent", cell: (at) => bytes(of("bytes_out")[at]!), key: (at) => of("bytes_out")[at]!, isNumber: true },
          { title: "received", cell: (at) => bytes(of("bytes_in")[at]!), key: (at) => of("bytes_in")[at]!, isNumber: true },
          { title: "waited", cell: (at) => (of("waiting")[at] === 0 ? "·" : seconds(of("waiting")[at]! / per)), key: (at) => of("waiting")[at]!, isNumber: true },
          { title: "completion", cell: (at) => (of("completion")[at] === 0 ? "·" : seconds(of("completion")[at]! / per)), key: (at) => of("completion")[at]!, isNumber: true },
        ]}
      />
      {latest.length > 0 && <h2>Who came last</h2>}
      {latest.length > 0 && (
        <Rows
          name="Who came last" rows={latest} limit={25}
          onSelect={(at) => { const first = data.places.members[process[at]!]?.[0]; if (first !== undefined) page.change({ location: first }); }}
          columns={[
            { title: "rank", cell: (at) => (process[at] === NONE ? "others" : data.places.processName(process[at]!)) },
            { title: "operation", cell: (at) => function_(lastRegion[at]!) },
            { title: "on", cell: (at) => on(lastComm[at]!) },
            { title: "times", cell: (at) => times[at]!, key: (at) => times[at]!, isNumber: true },
            { title: "others waited", cell: (at) => (caused[at] === 0 ? "·" : seconds(caused[at]! / per)), key: (at) => caused[at]!, isNumber: true },
          ]}
        />
      )}
    </section>
  );
}

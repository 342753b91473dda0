// The matrix: senders down, receivers to the right, with margins; a block of ranks a cell, or the pairs of one block.

import { useMemo, useState } from "preact/hooks";

import { column } from "../data/table.js";
import { usePage } from "../state/context.js";
import { cividis, css, palette } from "../ui/colours.js";
import { bytes, count, seconds } from "../ui/format.js";
import { Picture } from "../ui/picture.js";
import type { Kind } from "./messages.js";

const LEFT = 72;
const TOP = 22;
const MARGIN = 46;
const MOST = 420;

interface Entry { source: number; destination: number; value: number }

export function Matrix(props: { kind: Kind; block: [number, number] | null; choose: (block: [number, number]) => void }) {
  const page = usePage();
  const { data } = page;
  const { kind, block } = props;
  const per = data.report.ticks_per_second;
  const each = data.report.ranks_of_block;
  const ranks = data.places.groups;
  const [cursor, setCursor] = useState<[number, number]>([0, 0]);
  const entries = useMemo(() => {
    const table = data.tables.get(block ? "pairs" : "blocks") ?? null;
    const of = (name: string) => column(table, name);
    const found = new Map<string, Entry>();
    for (let row = 0; row < (table?.rows ?? 0); row++) {
      const [source, destination] = [of("source")[row]!, of("destination")[row]!];
      if (block && (Math.floor(source / each) !== block[0] || Math.floor(destination / each) !== block[1])) continue;
      const value = kind === "waiting" ? (of("late_sender")[row]! + of("late_receiver")[row]!) / per : of(kind)[row]!;
      const key = `${source}/${destination}`;
      const entry = found.get(key);
      if (entry) entry.value += value;
      else found.set(key, { source, destination, value });
    }
    return found;
  }, [data, page.version, kind, block?.[0], block?.[1]]);
  const margins = useMemo(() => marginsOf(data, kind, per), [data, page.version, kind]);
  // What rows and columns stand for.
  const size = block ? each : Math.ceil(ranks / each);
  const first = block ? [block[0] * each, block[1] * each] as const : [0, 0] as const;
  const span = block ? 1 : each;
  const rowsOf = (axis: 0 | 1) => Math.min(size, block ? ranks - first[axis] : size);
  const [rows, columns] = [rowsOf(0), rowsOf(1)];
  const cell = Math.max(1, Math.min(28, Math.floor(MOST / Math.max(rows, columns))));
  const text = (value: number) => (kind === "waiting" ? seconds(value) : kind === "bytes" ? bytes(value) : count(value));
  const name = (axis: 0 | 1, at: number) => {
    const from = first[axis] + at * span;
    const to = Math.min(ranks, from + span) - 1;
    return from === to ? data.places.processName(from) : `ranks ${data.places.groupRank[from]}–${data.places.groupRank[to]}`;
  };
  const entry = (row: number, at: number) => entries.get(block ? `${first[0] + row}/${first[1] + at}` : `${row}/${at}`);
  const sum = (margin: Float64Array, axis: 0 | 1, at: number) => {
    let all = 0;
    for (let rank = first[axis] + at * span; rank < Math.min(ranks, first[axis] + (at + 1) * span); rank++) all += margin[rank] ?? 0;
    return all;
  };
  const most = Math.max(0, ...[...entries.values()].map((it) => it.value));
  const words = (row: number, at: number) => `${name(0, row)} to ${name(1, at)}: ${text(entry(row, at)?.value ?? 0)}`;
  const place = (x: number, y: number): [number, number] | null => {
    const [row, at] = [Math.floor((y - TOP) / cell), Math.floor((x - LEFT) / cell)];
    return row >= 0 && at >= 0 && row < rows && at < columns ? [row, at] : null;
  };
  const open = (at: [number, number] | null) => {
    if (!at) return;
    setCursor(at);
    if (!block && each > 1) props.choose(at);
    else page.change({ location: data.places.members[first[1] + at[1]]?.[0] ?? null });
  };
  const [sent, received] = margins;
  const sums = { sent: [...Array(rows).keys()].map((at) => sum(sent, 0, at)), received: [...Array(columns).keys()].map((at) => sum(received, 1, at)) };
  const largest = Math.max(1e-30, ...sums.sent, ...sums.received);
  return (
    <Picture
      name={`Matrix of ${kind}, senders down, receivers to the right: arrow keys move, Enter opens a block`}
      height={TOP + rows * cell + MARGIN + 6}
      draw={({ context }) => {
        const colours = palette();
        context.fillStyle = colours.text;
        context.fillText(`receivers →${most > 0 ? `   brightest: ${text(most)}` : ""}`, LEFT, 14);
        context.textAlign = "right";
        const step = Math.max(1, Math.ceil(14 / cell));
        for (let row = 0; row < rows; row += step) context.fillText(name(0, row).replace("ranks ", ""), LEFT - 6, TOP + (row + 0.5) * cell + 4, LEFT - 8);
        context.textAlign = "left";
        context.strokeStyle = colours.line;
        context.strokeRect(LEFT - 0.5, TOP - 0.5, columns * cell + 1, rows * cell + 1);
        for (const it of entries.values()) {
          if (it.value <= 0) continue;
          const [row, at] = block ? [it.source - first[0], it.destination - first[1]] : [it.source, it.destination];
          context.fillStyle = css(cividis(Math.sqrt(it.value / most)));
          context.fillRect(LEFT + at * cell, TOP + row * cell, Math.max(1, cell - (cell > 5 ? 1 : 0)), Math.max(1, cell - (cell > 5 ? 1 : 0)));
          // Bright cells are told from a white page by their edge.
          if (cell > 8) context.strokeRect(LEFT + at * cell + 0.5, TOP + row * cell + 0.5, cell - 2, cell - 2);
        }
        // Margins: what each row has in all, and each column.
        context.fillStyle = colours.of("communicate");
        const [x, y] = [LEFT + columns * cell + 6, TOP + rows * cell + 6];
        sums.sent.forEach((value, row) => context.fillRect(x, TOP + row * cell, (MARGIN - 10) * (value / largest), Math.max(1, cell - 1)));
        sums.received.forEach((value, at) => context.fillRect(LEFT + at * cell, y, Math.max(1, cell - 1), (MARGIN - 10) * (value / largest)));
        context.strokeStyle = colours.focus;
        context.lineWidth = 2;
        context.strokeRect(LEFT + cursor[1] * cell, TOP + cursor[0] * cell, Math.max(3, cell), Math.max(3, cell));
        context.lineWidth = 1;
        return {
          cells: entries.size, most, words: words(...cursor),
          sent: sums.sent.reduce((a, b) => a + b, 0), received: sums.received.reduce((a, b) => a + b, 0),
        };
      }}
      wordsAt={(x, y) => {
        const at = place(x, y);
        if (at) return words(...at);
        const row = Math.floor((y - TOP) / cell);
        if (x > LEFT + columns * cell && row >= 0 && row < rows) return `${name(0, row)}, all that ${kind === "waiting" ? "others and it waited as it sent" : "it sent"}: ${text(sums.sent[row]!)}`;
        const column_ = Math.floor((x - LEFT) / cell);
        if (y > TOP + rows * cell && column_ >= 0 && column_ < columns) return `${name(1, column_)}, all that ${kind === "waiting" ? "it and others waited as it received" : "it received"}: ${text(sums.received[column_]!)}`;
        return "";
      }}
      onClick={(x, y) => open(place(x, y))}
      onKey={(key) => {
        const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
        if (step) {
          const next: [number, number] = [Math.max(0, Math.min(rows - 1, cursor[0] + step[0]!)), Math.max(0, Math.min(columns - 1, cursor[1] + step[1]!))];
          setCursor(next);
          page.say(words(...next));
          return true;
        }
        if (key === "Enter") { open(cursor); return true; }
        return false;
      }}
    />
  );
}

/** Sums of each process: as a sender, and as a receiver. */
function marginsOf(data: ReturnType<typeof usePage>["data"], kind: Kind, per: number): [Float64Array, Float64Array] {
  const table = data.tables.get("processes") ?? null;
  const margins: [Float64Array, Float64Array] = [new Float64Array(data.places.groups), new Float64Array(data.places.groups)];
  const of = (name: string) => column(table, name);
  const names = {
    messages: [["sent"], ["received"]], bytes: [["bytes_sent"], ["bytes_received"]],
    // As a sender: what receivers waited for it, and what it waited for receivers.
    waiting: [["late_sender_caused", "late_receiver"], ["late_sender", "late_receiver_caused"]],
  }[kind];
  const process = of("process");
  names.forEach((columns, side) => columns.forEach((name) => {
    const values = of(name);
    for (let row = 0; row < (table?.rows ?? 0); row++) {
      const at = process[row]!;
      margins[side]![at] = margins[side]![at]! + values[row]! / (kind === "waiting" ? per : 1);
    }
  }));
  return margins;
}

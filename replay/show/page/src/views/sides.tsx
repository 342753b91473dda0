// Both sides of a wait: who waited, and below each of whom it was waited for.

import type { Data } from "../data/load.js";
import { NONE } from "../data/table.js";
import { cut, seconds } from "../ui/format.js";
import type { HopRow, WaitRow } from "./waits.js";

const NAMES = 166;
const WIDTH = 860;
const ROW = 32;

interface Lane { location: number; wait: { from: number; to: number; name: string } | null; doing: { from: number; to: number; name: string } | null; remark: string; causeAt: number | null }

export function Sides(props: { data: Data; wait: WaitRow; hops: HopRow[]; activities: string[] }) {
  const { data, wait } = props;
  if (wait.isCompletion) return null;
  const hops = props.hops.length > 0 ? props.hops : [{
    location: wait.location, cnode: wait.cnode, begin: wait.begin, seconds: wait.seconds, cause: wait.cause,
    causeCnode: wait.causeCnode, causeTime: wait.causeEnter,
  }];
  const name = (cnode: number) => (cnode === NONE ? "" : data.calls.name(cnode));
  const last = hops[hops.length - 1]!;
  const end = wait.begin + wait.seconds;
  const begin = Math.min(...hops.map((hop) => hop.begin));
  const lanes: Lane[] = hops.map((hop, at) => {
    const next = at === 0 ? end : hops[at - 1]!.causeTime;
    const stop = hop.begin + hop.seconds;
    return {
      location: hop.location, wait: { from: hop.begin, to: stop, name: name(hop.cnode) },
      doing: at > 0 && next > stop ? { from: stop, to: next, name: props.activities[at] ?? "" } : null,
      remark: at === 0 ? "" : `waited itself for ${data.places.who(hop.cause)}`, causeAt: at > 0 ? next : null,
    };
  });
  if (last.cause !== NONE) {
    lanes.push({
      location: last.cause, wait: null, causeAt: last.causeTime, remark: last.causeCnode === NONE ? "" : `came in ${name(last.causeCnode)}`,
      doing: { from: begin, to: Math.max(begin, last.causeTime), name: props.activities[hops.length] ?? "" },
    });
  }
  const scale = (WIDTH - NAMES - 10) / Math.max(1e-12, Math.max(end, ...lanes.map((lane) => lane.causeAt ?? 0)) - begin);
  const x = (time: number) => NAMES + (time - begin) * scale;
  const words = lanes.map((lane) => `${data.places.who(lane.location)}${lane.wait ? ` waits ${seconds(lane.wait.to - lane.wait.from)} in ${lane.wait.name}` : ""} ${lane.remark}`).join("; ");
  const label = (from: number, to: number, text: string) => (x(to) - x(from) > 34 ? cut(text, Math.floor((x(to) - x(from) - 8) / 7)) : "");
  return (
    <svg class="sides" viewBox={`0 0 ${WIDTH} ${lanes.length * ROW + 20}`} role="img" aria-label={words}>
      <defs>
        <pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" class="c-messages plain" />
          <line x1="0" y1="0" x2="0" y2="6" class="back" stroke-width="2" />
        </pattern>
      </defs>
      {lanes.map((lane, row) => {
        const y = row * ROW + 4;
        return (
          <g key={row}>
            <text class="label" x={NAMES - 8} y={y + 16} text-anchor="end" font-size="13">{cut(data.places.who(lane.location), 22)}</text>
            {lane.doing && <rect x={x(lane.doing.from)} y={y} width={Math.max(1, x(lane.doing.to) - x(lane.doing.from))} height={ROW - 10} class="c-work" />}
            {lane.doing && <text class="label dark" x={x(lane.doing.from) + 5} y={y + 15} font-size="12">{label(lane.doing.from, lane.doing.to, lane.doing.name)}</text>}
            {lane.wait && <rect x={x(lane.wait.from)} y={y} width={Math.max(1, x(lane.wait.to) - x(lane.wait.from))} height={ROW - 10} fill="url(#waits)" />}
            {lane.wait && label(lane.wait.from, lane.wait.to, lane.wait.name) && (
              <g>
                <rect class="back plain" x={x(lane.wait.from) + 3} y={y + 3} width={6.6 * label(lane.wait.from, lane.wait.to, lane.wait.name).length + 6} height={ROW - 16} />
                <text class="label" x={x(lane.wait.from) + 6} y={y + 15} font-size="12">{label(lane.wait.from, lane.wait.to, lane.wait.name)}</text>
              </g>
            )}
            {row > 0 && lane.causeAt !== null && (
              <path class="arrow" d={`M${x(lane.causeAt)} ${y + 10}L${x(lanes[row - 1]!.wait?.to ?? lane.causeAt)} ${y - ROW + 24}`} />
            )}
          </g>
        );
      })}
      <text class="label" x={NAMES} y={lanes.length * ROW + 14} font-size="12">{seconds(begin)}</text>
      <text class="label" x={WIDTH - 8} y={lanes.length * ROW + 14} font-size="12" text-anchor="end">{seconds(end)}</text>
    </svg>
  );
}

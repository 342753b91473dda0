// Explanations of metrics, with their pictures.

import type { Explanation, Picture } from "../data/report.js";

/** The words of a metric: what it is, when it is large, what to do. */
export function Explain(props: { of: Explanation; isMain?: boolean }) {
  const { of } = props;
  const Title = props.isMain ? "h2" : "h3";
  return (
    <div class="explanation" data-metric={of.metric}>
      <Title>{of.title} <code>{of.metric}</code></Title>
      <p class="limit">{of.place}</p>
      {of.picture && <Drawing picture={of.picture} />}
      {of.is_waiting === false && <p>Completion time, no wait state: nobody could have prevented it by coming earlier.</p>}
      <p>{of.meaning}</p>
      {of.large_when && <p><strong>Large when</strong> {of.large_when}</p>}
      {of.what_to_do && <p><strong>What to do:</strong> {of.what_to_do}</p>}
    </div>
  );
}

const ROW = 26;
const COLUMN = 7;
const NAMES = 86;

/** A picture of ranks or threads over time. */
export function Drawing(props: { picture: Picture }) {
  const { lanes, measured, text } = props.picture;
  const columns = Math.max(1, ...lanes.flatMap((lane) => lane.segments.map((segment) => segment[2])));
  const height = lanes.length * ROW + (measured ? 26 : 4);
  const x = (column: number) => NAMES + column * COLUMN;
  const below = lanes.length * ROW;
  return (
    <svg class="drawing" viewBox={`0 0 ${x(columns) + 4} ${height}`} role="img" aria-label={text}>
      <defs>
        <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" class="c-messages plain" />
          <line x1="0" y1="0" x2="0" y2="5" class="axis" />
        </pattern>
      </defs>
      {lanes.map((lane, row) => (
        <g key={row}>
          <text class="label" x="0" y={row * ROW + 17} font-size="12">{lane.name}</text>
          {lane.segments.map(([kind, from, to, label], at) => (
            <g key={at}>
              <rect
                x={x(from)} y={row * ROW + 3} width={(to - from) * COLUMN} height={ROW - 8} fill={kind === "wait" ? "url(#hatch)" : undefined}
                class={kind === "work" ? "c-work" : kind === "wait" ? "" : kind === "completion" ? "c-collectives" : "c-other"}
              />
              {label && (to - from) * COLUMN > label.length * 5.5 &&
                <text class={kind === "work" || kind === "completion" ? "label dark" : "label"} x={x(from) + 4} y={row * ROW + 16} font-size="11">{label}</text>}
            </g>
          ))}
        </g>
      ))}
      {measured && (
        <g>
          <path class="axis" fill="none" d={`M${x(measured[0])} ${below + 2}v8M${x(measured[0])} ${below + 6}H${x(measured[1])}M${x(measured[1])} ${below + 2}v8`} />
          <text class="label" x={(x(measured[0]) + x(measured[1])) / 2} y={below + 21} text-anchor="middle" font-size="12">{measured[2]}</text>
        </g>
      )}
    </svg>
  );
}

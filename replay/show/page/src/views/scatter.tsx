// One metric over another, a point for each location.

import { useMemo, useState } from "preact/hooks";

import type { Quantity } from "../data/severities.js";
import { usePage } from "../state/context.js";
import { palette } from "../ui/colours.js";
import { MetricOptions } from "../ui/choices.js";
import { ofUnit } from "../ui/format.js";
import { Picture } from "../ui/picture.js";

const HEIGHT = 260;
const LEFT = 76;

export function Scatter(props: { quantity: Quantity; cnodes: readonly number[]; known: readonly number[] }) {
  const page = usePage();
  const { severities, report, places } = page.data;
  const { quantity, cnodes, known } = props;
  const [name, setName] = useState(report.metrics.some((it) => it?.name === "comp") ? "comp" : "time");
  const other = severities.quantity(name);
  const across = useMemo(() => (other && severities.hasLocations(other) ? severities.byLocation(other, all(page)).values : null), [name, page.version]);
  const down = useMemo(() => severities.byLocation(quantity, cnodes).values, [quantity.name, cnodes, page.version]);
  if (!other || !across || known.length < 2) return null;
  const largest = (values: Float64Array) => Math.max(1e-30, ...sample(known).map((at) => values[at]!));
  const [wide, high] = [largest(across), largest(down)];
  let width = 1;
  const x = (at: number) => LEFT + (across[at]! / wide) * (width - LEFT - 14);
  const y = (at: number) => 8 + (1 - down[at]! / high) * (HEIGHT - 40);
  const words = (at: number | undefined) => (at === undefined ? "" : `${places.name(at)}: ${other.title} ${ofUnit(across[at]!, other.unit)}, ${quantity.title} ${ofUnit(down[at]!, quantity.unit)}`);
  const near = (px: number, py: number) => {
    let [best, distance] = [undefined as number | undefined, 144];
    for (const at of known) {
      const now = (x(at) - px) ** 2 + (y(at) - py) ** 2;
      if (now < distance) [best, distance] = [at, now];
    }
    return best;
  };
  return (
    <section aria-label="One metric over another">
      <h2>{quantity.title} over{" "}
        <select aria-label="Metric across" value={name} onChange={(event) => setName(event.currentTarget.value)}>
          <MetricOptions report={report} />
        </select>{" "}of the whole program
      </h2>
      <Picture
        name={`${quantity.title} over ${other.title}: arrow keys go through the locations`} height={HEIGHT}
        draw={({ context, width: now }) => {
          width = now;
          const colours = palette();
          context.strokeStyle = colours.line;
          context.strokeRect(LEFT - 4.5, 4.5, width - LEFT - 4, HEIGHT - 32);
          context.fillStyle = colours.text;
          context.textAlign = "right";
          context.fillText(ofUnit(high, quantity.unit), LEFT - 8, 16);
          context.fillText(ofUnit(0, quantity.unit), LEFT - 8, HEIGHT - 28);
          context.fillText(ofUnit(wide, other.unit), width - 6, HEIGHT - 10);
          context.textAlign = "left";
          context.fillText(`${ofUnit(0, other.unit)} – ${other.title}`, LEFT, HEIGHT - 10);
          context.fillStyle = colours.of("messages");
          const radius = known.length > 2000 ? 1.5 : 3.5;
          for (const at of known) {
            context.beginPath();
            context.arc(x(at), y(at), radius, 0, 2 * Math.PI);
            context.fill();
          }
          const selected = page.state.location;
          if (selected !== null && known.includes(selected)) {
            context.strokeStyle = colours.focus;
            context.lineWidth = 3;
            context.beginPath();
            context.arc(x(selected), y(selected), 7, 0, 2 * Math.PI);
            context.stroke();
            context.lineWidth = 1;
          }
          return { points: known.length, words: selected === null ? "" : words(selected) };
        }}
        wordsAt={(px, py) => words(near(px, py))}
        onClick={(px, py) => { const at = near(px, py); if (at !== undefined) page.change({ location: at }); }}
        onKey={(key) => {
          const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : key === "ArrowLeft" || key === "ArrowUp" ? -1 : 0;
          if (step === 0) return false;
          const now = known.indexOf(page.state.location ?? -1);
          page.change({ location: known[Math.max(0, Math.min(known.length - 1, now + step))]! });
          return true;
        }}
      />
    </section>
  );
}

function all(page: ReturnType<typeof usePage>): number[] {
  return Array.from({ length: page.data.calls.count }, (_, at) => at);
}

/** Lists that are too long for arguments of a function lose nothing but their order. */
function sample(list: readonly number[]): number[] {
  return list.length <= 65536 ? [...list] : list.slice(0, 65536);
}

// The map of the view Iterations: groups of locations down, blocks of iterations to the right.

import { useMemo, useState } from "preact/hooks";

import { type Iterations } from "../../data/iterations.js";
import { usePage } from "../../state/context.js";
import { cividis, palette, rgb, type Palette } from "../../ui/colours.js";
import { Picture } from "../../ui/picture.js";
import { Ramp } from "../ranks.js";
import { numbersBelow } from "./chart.js";
import { LEFT, RIGHT, amount, change, named, openTime, type Shown } from "./shown.js";

const AXIS = 24;
const MOST = 340;

/** Steps of the colour scale. */
const STEPS = 63;

export function IterationMap({ iterations, shown, metric }: { iterations: Iterations; shown: Shown; metric: number }) {
  const page = usePage();
  const { data } = page;
  const { places, report } = data;
  const { groups, columns, loop } = iterations;
  const [group, setGroup] = useState(0);
  const cells = useMemo(() => iterations.cells(metric), [iterations, metric]);
  // Whoever has an iteration spends time in it.
  const time = useMemo(() => {
    const at = report.metrics.findIndex((it) => it?.name === "time");
    return iterations.mapped.includes(at) ? iterations.cells(at) : null;
  }, [iterations, report]);
  const members = (at: number) => Math.min(loop.map_span, places.count - at * loop.map_span);
  const numbers = (column: number) => Math.min(loop.map_block, loop.iterations - column * loop.map_block);
  /** The value of a cell by location and iteration; not a number where there is none. */
  const value = (at: number, column: number) => {
    const cell = at * columns + column;
    return time && time[cell] === 0 ? Number.NaN : cells[cell]! / (members(at) * numbers(column));
  };
  const largest = useMemo(() => {
    let most = 0;
    for (let at = 0; at < groups; at++) for (let column = 0; column < columns; column++) most = Math.max(most, value(at, column) || 0);
    return most;
  }, [cells, time]);
  const unknown = useMemo(() => time?.reduce((count, ticks) => count + (ticks === 0 ? 1 : 0), 0) ?? 0, [time]);
  const isMean = loop.map_span > 1 || loop.map_block > 1;
  const height = Math.max(40, Math.min(MOST, groups * 18));
  /** First and last row of a column. */
  const rows = (column: number): [number, number] => {
    const first = column * loop.map_block + 1;
    return [iterations.row(first), iterations.row(first + numbers(column) - 1)];
  };
  const words = (at: number, column: number) => {
    const who = places.range(at * loop.map_span, members(at));
    const now = value(at, column);
    const sum = cells[at * columns + column]!;
    return `${named(iterations, ...rows(column))}, ${who}: ${Number.isNaN(now) ? "without it" : `${report.metrics[metric]!.title} ${amount(data, metric, sum)}`}`;
  };
  let width = 1;
  const wide = () => Math.max(1, width - LEFT - RIGHT);
  const place = (x: number, y: number): [number, number] | null => {
    const [at, column] = [Math.floor((y / height) * groups), Math.floor((((x - LEFT) / wide()) * loop.iterations) / loop.map_block)];
    return x >= LEFT && at >= 0 && at < groups && column >= 0 && column < columns ? [at, column] : null;
  };
  const open = (at: number, column: number) => openTime(page, iterations, ...rows(column), at * loop.map_span);
  const selected = shown.row === null ? null : Math.floor((iterations.numbers(shown.row)[0] - 1) / loop.map_block);
  return (
    <>
      <Picture
        name={`${report.metrics[metric]!.title} of locations, down, by iteration: arrow keys move, Enter shows one in Time`} height={height + AXIS}
        draw={({ context, width: now }) => {
          width = now;
          const theme = palette();
          const image = imageOf(theme, Math.round(wide()), height);
          // Canvases know their scale; pixels of images do not.
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          canvas.getContext("2d")!.putImageData(image, 0, 0);
          context.imageSmoothingEnabled = false;
          context.drawImage(canvas, LEFT, 0, wide(), height);
          context.strokeStyle = theme.line;
          context.strokeRect(LEFT - 0.5, 0.5, wide() + 1, height - 1);
          context.fillStyle = theme.text;
          context.textAlign = "right";
          const step = Math.max(1, Math.ceil((18 * groups) / height));
          for (let at = 0; at < groups; at += step) {
            context.fillText(places.range(at * loop.map_span, members(at)), LEFT - 6, Math.max(10, ((at + 0.5) / groups) * height + 4), LEFT - 8);
          }
          numbersBelow(context, theme, width, height + 17, loop.iterations);
          if (selected !== null) {
            context.strokeStyle = theme.focus;
            context.lineWidth = 2;
            const each = (wide() * loop.map_block) / loop.iterations;
            context.strokeRect(LEFT + selected * each, Math.min((group / groups) * height, height - 4), Math.max(3, numbers(selected) / loop.map_block * each), Math.max(3, height / groups));
            context.lineWidth = 1;
          }
          return { cells: groups * columns, unknown, most: largest, words: selected === null ? "" : words(group, selected) };
        }}
        wordsAt={(x, y) => { const at = place(x, y); return at ? words(...at) : ""; }}
        onClick={(x, y) => { const at = place(x, y); if (at) open(...at); }}
        onKey={(key) => {
          if (key === "Enter" && selected !== null) { open(group, selected); return true; }
          const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
          if (!step) return false;
          setGroup(Math.max(0, Math.min(groups - 1, group + step[0]!)));
          const next = selected === null ? 0 : Math.max(0, Math.min(columns - 1, selected + step[1]!));
          change(page, iterations, { row: rows(next)[0] }, true);
          return true;
        }}
      />
      <p class="scale">
        <span>{amount(data, metric, 0)}</span><Ramp /><span>{amount(data, metric, largest)}</span>
        {isMean && <span class="limit"> a location and iteration; a cell is {loop.map_span > 1 && `${loop.map_span} locations`}{loop.map_span > 1 && loop.map_block > 1 && " and "}{loop.map_block > 1 && `${loop.map_block} iterations`}</span>}
        {unknown > 0 && <span class="limit"> hatched: locations without the iteration</span>}
      </p>
    </>
  );

  /** Pixels: of several cells in one, that with most. */
  function imageOf(theme: Palette, wide: number, high: number): ImageData {
    const image = new ImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const pack = ([red, green, blue]: [number, number, number]) => (255 << 24) | (blue << 16) | (green << 8) | red;
    const scale = Array.from({ length: STEPS + 1 }, (_, at) => pack(cividis(at / STEPS)));
    const [back, hatch] = [pack(rgb(theme.back)), pack(rgb(theme.line))];
    const columnOf = (x: number) => Math.min(columns - 1, Math.floor(((x / wide) * loop.iterations) / loop.map_block));
    for (let y = 0; y < high; y++) {
      const from = Math.min(groups - 1, Math.floor((y / high) * groups));
      const to = Math.max(from + 1, Math.floor(((y + 1) / high) * groups));
      for (let x = 0; x < wide; x++) {
        const [first, last] = [columnOf(x), Math.max(columnOf(x) + 1, columnOf(x + 1))];
        let most = Number.NaN;
        for (let at = from; at < to; at++) {
          for (let column = first; column < last; column++) {
            const now = value(at, column);
            if (!(now <= most)) most = Number.isNaN(now) ? most : now;
          }
        }
        pixels[y * wide + x] = Number.isNaN(most) ? ((x + y) % 6 === 0 ? hatch : back)
          : scale[Math.round(largest > 0 ? STEPS * Math.max(0, most / largest) : 0)]!;
      }
    }
    return image;
  }
}

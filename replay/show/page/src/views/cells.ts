// Cells of locations: boxed by node, or at their places in a topology.

import type { Data } from "../data/load.js";
import { axesOf, type AxesOf } from "./ranks.js";
import { coordinates } from "./time/order.js";

export interface Cell { x: number; y: number; locations: number[]; isUnknown: boolean; position: number[] | null }

export interface Layout {
  cells: Cell[];
  boxes: { x: number; y: number; width: number; height: number; name: string }[];
  /** Side of a cell. */
  size: number;
  height: number;
}

const MOST = 26;
const LEAST = 3;
const HEIGHT = 420;
const TITLE = 18;
const GAP = 12;

export function cells(data: Data, width: number, axes: AxesOf | null): Layout {
  return axes ? inTopology(data, width, axes) : onNodes(data, width);
}

function onNodes(data: Data, width: number): Layout {
  const { places, report } = data;
  const byNode = new Map<number, number[]>();
  for (let at = 0; at < places.count; at++) {
    if (places.kind[at] === 2) continue;
    const node = places.node(at);
    const members = byNode.get(node);
    if (members) members.push(at);
    else byNode.set(node, [at]);
  }
  for (let size = MOST; ; size--) {
    const layout: Layout = { cells: [], boxes: [], size, height: 0 };
    let [x, y, line] = [2, TITLE, 0];
    for (const [node, members] of byNode) {
      // A single node is as wide as the picture.
      const columns = Math.max(1, Math.min(Math.floor((width - 4) / size), byNode.size === 1 ? members.length : Math.ceil(Math.sqrt(members.length))));
      const [wide, high] = [columns * size, Math.ceil(members.length / columns) * size];
      if (x + wide > width - 2 && x > 2) [x, y, line] = [2, y + line + TITLE + 6, 0];
      members.forEach((location, at) => layout.cells.push({
        x: x + (at % columns) * size, y: y + Math.floor(at / columns) * size, locations: [location],
        isUnknown: places.known[location] !== 1, position: null,
      }));
      layout.boxes.push({ x, y, width: wide, height: high, name: wide > 40 ? (report.nodes[node]?.name ?? "") : "" });
      x += wide + GAP;
      line = Math.max(line, high);
    }
    layout.height = y + line + 4;
    if (layout.height <= HEIGHT || size <= LEAST) return layout;
  }
}

function inTopology(data: Data, width: number, axes: AxesOf): Layout {
  const { places, report } = data;
  const { dimensions } = report.topologies[axes.topology]!;
  const [across, down] = axesOf(axes, dimensions.length);
  const at = new Map<string, Cell>();
  let [columns, rows] = [1, 1];
  for (const [location, position] of coordinates(data, axes.topology)) {
    if (position.some((place, dimension) => dimension !== across && dimension !== down && (axes.slice[dimension] ?? -1) >= 0 && axes.slice[dimension] !== place)) continue;
    const [x, y] = [position[across] ?? 0, down >= 0 ? (position[down] ?? 0) : 0];
    const cell = at.get(`${x}/${y}`) ?? { x, y, locations: [], isUnknown: true, position: down >= 0 ? [y, x] : [x] };
    cell.locations.push(location);
    cell.isUnknown &&= places.known[location] !== 1;
    at.set(`${x}/${y}`, cell);
    [columns, rows] = [Math.max(columns, x + 1), Math.max(rows, y + 1)];
  }
  const size = Math.max(LEAST, Math.min(MOST, Math.floor((width - 8) / columns), Math.floor(HEIGHT / rows)));
  const all = [...at.values()];
  for (const cell of all) [cell.x, cell.y] = [2 + cell.x * size, TITLE + cell.y * size];
  const box = { x: 2, y: TITLE, width: columns * size, height: rows * size, name: report.topologies[axes.topology]!.name };
  return { cells: all, boxes: [box], size, height: TITLE + rows * size + 4 };
}

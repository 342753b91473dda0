// The order of rows: by number, by node, in a topology, or by waiting.

import type { Data } from "../../data/load.js";
import { NONE, column } from "../../data/table.js";
import type { State } from "../../state/state.js";

/** The location of each row. */
export function order(data: Data, by: State["order"]): number[] {
  const { places, severities } = data;
  const all = Array.from({ length: places.count }, (_, at) => at);
  const sorted = (key: (location: number) => number) => {
    const keys = all.map(key);
    return all.sort((a, b) => keys[a]! - keys[b]! || a - b);
  };
  switch (by) {
    case "node": return sorted((location) => places.node(location));
    case "waiting": {
      const quantity = severities.quantity("waiting");
      if (!quantity) return all;
      const { values } = severities.byLocation(quantity, Array.from({ length: data.calls.count }, (_, at) => at));
      return sorted((location) => -values[location]!);
    }
    case "topology": {
      const at = coordinates(data, 0);
      const { dimensions } = data.report.topologies[0] ?? { dimensions: [] };
      return sorted((location) => {
        const position = at.get(location);
        return position ? position.reduce((sum, it, dimension) => sum * (dimensions[dimension]?.size ?? 1) + it, 0) : Infinity;
      });
    }
    default: return all;
  }
}

/** Coordinates of locations in a topology; of several places of one the first. */
export function coordinates(data: Data, topology: number): Map<number, number[]> {
  const table = data.places.coordinates;
  const found = new Map<number, number[]>();
  if (!table) return found;
  const [of, isGroup] = [column(table, "of"), column(table, "is_group")];
  const number = column(table, "topology");
  const dimensions = data.report.topologies[topology]?.dimensions.length ?? 0;
  const axes = Array.from({ length: dimensions }, (_, at) => column(table, `p${at}`));
  for (let row = 0; row < table.rows; row++) {
    if (number[row] !== topology) continue;
    const position = axes.map((axis) => axis[row] ?? NONE);
    const members = isGroup[row] ? (data.places.members[of[row]!] ?? []) : [of[row]!];
    for (const member of members) if (!found.has(member)) found.set(member, position);
  }
  return found;
}

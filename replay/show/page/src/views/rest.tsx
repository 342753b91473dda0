// What the page has of values by location that did not fit: mean, quartiles, and the largest.

import type { Quantity } from "../data/severities.js";
import { column } from "../data/table.js";
import { usePage } from "../state/context.js";
import { ofUnit } from "../ui/format.js";

/** Call paths that are told. */
const MOST = 5;

/** Of a quantity at some call paths, those with the largest values. */
export function Rest(props: { quantity: Quantity; cnodes: readonly number[] }) {
  const { data } = usePage();
  const { quantity } = props;
  const table = data.tables.get("rest");
  if (!table) return null;
  const of = (name: string) => column(table, name);
  const [metrics, cnodes, most] = [of("metric"), of("cnode"), of("most")];
  const wanted = new Set(props.cnodes);
  const rows = Array.from({ length: table.rows }, (_, row) => row)
    .filter((row) => quantity.adds.includes(metrics[row]!) && wanted.has(cnodes[row]!))
    .sort((a, b) => most[b]! - most[a]!);
  if (rows.length === 0) return null;
  const text = (value: number) => ofUnit(value, quantity.unit);
  const worst = (row: number) => {
    const [places, values] = [table.bytes.get("worst")![row]!, table.bytes.get("worst_values")![row]!];
    const [at, value] = [places, values].map((bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return Array.from({ length: places.byteLength / 4 }, (_, number) => `${data.places.name(at!.getUint32(4 * number, true))} ${text(value!.getFloat64(8 * number, true))}`);
  };
  return (
    <details class="limit rest">
      <summary>call paths of which only these are known</summary>
      <ul>
        {rows.slice(0, MOST).map((row) => (
          <li key={row}>
            {data.calls.path(cnodes[row]!)}: mean {text(of("mean")[row]!)}, quarter {text(of("quarter")[row]!)}, median {text(of("median")[row]!)}, three
            quarters {text(of("three_quarters")[row]!)}, most {text(most[row]!)}; largest: {worst(row).join(", ")}
          </li>
        ))}
      </ul>
      {rows.length > MOST && <p>and {rows.length - MOST} more</p>}
    </details>
  );
}

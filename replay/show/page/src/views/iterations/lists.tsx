// Lists of the view Iterations: those unlike the others with who made others wait, kinds, and all iterations.

import { Fragment, type ComponentChildren } from "preact";

import type { Iterations } from "../../data/iterations.js";
import { NONE } from "../../data/table.js";
import { usePage } from "../../state/context.js";
import { seconds } from "../../ui/format.js";
import { Rows } from "../../ui/rows.js";
import { amount, coloursOf, hasTime, kindOf, openTime, type Shown } from "./shown.js";

interface Props { iterations: Iterations; shown: Shown }

export function UnlikeList({ iterations, shown }: Props) {
  const page = usePage();
  const { places, calls, report } = page.data;
  const text = (ticks: number) => seconds(ticks / report.ticks_per_second);
  const rows = iterations.unlike();
  const cause = (row: number) => {
    const [first, last] = iterations.numbers(row);
    return iterations.loop.causes.find((it) => it.iteration >= first && it.iteration <= last && it.ticks > 0);
  };
  if (rows.length === 0) return <p class="limit">None took much longer, or less, than those around it.</p>;
  return (
    <Rows
      name="Iterations unlike the others" rows={rows} selected={(row) => row === shown.row} {...choice(page, iterations)}
      columns={[
        ...numbers(iterations),
        { title: "elapsed", cell: (row) => text(iterations.elapsed[row]!), key: (row) => iterations.elapsed[row]!, isNumber: true },
        {
          title: "longest outside of MPI",
          cell: (row) => (iterations.computationAt[row] === NONE ? "·" : `${places.name(iterations.computationAt[row]!)}, ${text(iterations.computation[row]!)}`),
        },
        {
          title: "who made others wait most",
          cell: (row) => {
            const it = cause(row);
            return it ? <>{places.name(it.location)} in {breakable(calls.path(it.cnode))}: {text(it.ticks)}, of {text(it.ticks_of_run)} in the run</> : "·";
          },
        },
      ]}
    />
  );
}

export function Kinds({ iterations, shown }: Props) {
  const page = usePage();
  const colours = coloursOf(iterations);
  const representative = ({ representative: number }: { representative: number }) => `number ${number}${iterations.renumbered(number, number)}`;
  const kinds = iterations.loop.kinds.map((kind, at) => ({ ...kind, colour: colours[at]! })).sort((a, b) => b.iterations - a.iterations);
  return (
    <Rows
      name="Kinds of iterations" rows={kinds} selected={(kind) => iterations.row(kind.representative) === shown.row}
      {...choice(page, iterations, (kind: { representative: number }) => iterations.row(kind.representative))}
      columns={[
        { title: "kind", cell: (kind) => (kind.iterations === 1 ? `${representative(kind)}, like no other` : `${kind.iterations} like ${representative(kind)}`) },
        // Neighbours that share a row have no colour.
        ...(iterations.loop.block > 1 ? [] : [{
          title: "colour",
          cell: (kind: { colour: string }) => <svg width="28" height="14" viewBox="0 0 28 14" aria-hidden="true"><rect x="1" y="1" width="26" height="12" class={`c-${kind.colour}`} /></svg>,
        }]),
      ]}
    />
  );
}

/** The number of a row, and that in the program if it is another one. */
function numbers(iterations: Iterations) {
  const number = { title: "number", cell: (row: number) => iterations.label(row), key: (row: number) => row };
  const inProgram = (row: number) => {
    const [first, last] = iterations.numbers(row).map((it) => iterations.inProgram(it));
    return first === null || last === null ? "·" : first === last ? String(first) : `${first}–${last}`;
  };
  return iterations.areRenumbered ? [number, { title: "in program", cell: inProgram }] : [number];
}

/** A call path that lines may break in, behind a name. */
function breakable(path: string): ComponentChildren {
  return path.split("/").map((name, at) => <Fragment key={at}>{at > 0 && <>/<wbr /></>}{name}</Fragment>);
}

/** All iterations as a table, for who does not see the chart. */
export function AllIterations({ iterations, shown }: Props) {
  const page = usePage();
  const { data } = page;
  const per = data.report.ticks_per_second;
  const { metric } = shown;
  const values = metric === null ? null : iterations.values(metric);
  const text = (value: number) => (Number.isNaN(value) ? "·" : amount(data, metric!, value));
  const rows = Array.from({ length: iterations.count }, (_, row) => row);
  return (
    <details>
      <summary>all iterations as a table</summary>
      <Rows
        name="All iterations" rows={rows} selected={(row) => row === shown.row} {...choice(page, iterations)}
        columns={[
          ...numbers(iterations),
          { title: "begin", cell: (row) => seconds(iterations.begin[row]! / per), key: (row) => iterations.begin[row]!, isNumber: true },
          { title: "elapsed", cell: (row) => seconds(iterations.elapsed[row]! / per), key: (row) => iterations.elapsed[row]!, isNumber: true },
          { title: "kind", cell: (row) => kindOf(iterations, row) ?? "·" },
          ...(values ? [{ title: `${data.report.metrics[metric!]!.title} in all`, cell: (row: number) => text(values.sum[row]!), key: (row: number) => values.sum[row]!, isNumber: true }] : []),
        ]}
      />
    </details>
  );
}

/** How rows are chosen: they are shown in Time, if there is that view. */
function choice<T = number>(page: ReturnType<typeof usePage>, iterations: Iterations, row: (of: T) => number = (of) => of as number) {
  if (!hasTime(page.data)) return {};
  return { onSelect: (of: T) => openTime(page, iterations, row(of), row(of), null) };
}

// The view Iterations: what the main loop does in each iteration, and which iterations are unlike the others.

import { useMemo } from "preact/hooks";

import { iterationsOf, type Iterations } from "../../data/iterations.js";
import { usePage } from "../../state/context.js";
import { MetricOptions } from "../../ui/choices.js";
import { seconds, share } from "../../ui/format.js";
import { Chart } from "./chart.js";
import { AllIterations, Kinds, UnlikeList } from "./lists.js";
import { IterationMap } from "./map.js";
import { change, hasTime, shownOf } from "./shown.js";

export function IterationsView() {
  const page = usePage();
  const { data } = page;
  const iterations = useMemo(() => iterationsOf(data), [data, page.version]);
  if (!iterations) return <p class="limit">Iterations of the main loop are not there yet.</p>;
  const shown = shownOf(page, iterations);
  const { loop } = iterations;
  const { report } = data;
  const metric = (name: string) => report.metrics.findIndex((it) => it?.name === name);
  const name = (at: number | null) => (at === null ? "" : report.metrics[at]!.name);
  const incomplete = report.incomplete["replay.series_map.table"];
  return (
    <div class="iterations">
      <p>{summary(iterations, report.ticks_per_second)}</p>
      <Recorded iterations={iterations} />
      <Correspondence iterations={iterations} />
      <div class="modes">
        <label>Show{" "}
          <select value={name(shown.metric)} onChange={(event) => change(page, iterations, { metric: event.currentTarget.value === "" ? null : metric(event.currentTarget.value) })}>
            <option value="">elapsed time</option>
            <MetricOptions report={report} only={iterations.metrics} />
          </select>
        </label>
        <span class="limit">
          {shown.metric === null ? "from the last begin to the last end" : loop.block === 1 ? "marks: mean of the locations; bands: from the least to the most of one" : "marks: mean of the locations"}
          {loop.block > 1 ? `; ${loop.block} neighbours together` : "; colours: kinds"}
          {hasTime(data) && "; a click shows an iteration in Time"}
        </span>
      </div>
      <Chart iterations={iterations} shown={shown} />
      {shown.map !== null && (
        <section aria-label="Locations over iterations">
          <h2>Locations over iterations</h2>
          <div class="modes">
            <label>Metric{" "}
              <select value={name(shown.map)} onChange={(event) => change(page, iterations, { map: metric(event.currentTarget.value) })}>
                <MetricOptions report={report} only={iterations.mapped} />
              </select>
            </label>
            {incomplete && <span class="limit">{incomplete}</span>}
          </div>
          <IterationMap iterations={iterations} shown={shown} metric={shown.map} />
        </section>
      )}
      <section aria-label="Unlike the others">
        <h2>Unlike the others</h2>
        <UnlikeList iterations={iterations} shown={shown} />
      </section>
      {loop.kinds.length > 0 && (
        <section aria-label="Kinds">
          <h2>Kinds</h2>
          <Kinds iterations={iterations} shown={shown} />
        </section>
      )}
      <AllIterations iterations={iterations} shown={shown} />
    </div>
  );
}

/** How many there are, and how long they take. */
function summary(iterations: Iterations, per: number): string {
  const { loop } = iterations;
  const many = `${loop.iterations} iterations of the main loop`;
  if (loop.block > 1) return `${many}.`;
  const [median, least, most] = iterations.usual().map((it) => seconds(it / per));
  const trend = loop.trend === null ? "" : ` They get ${loop.trend < 0 ? "shorter" : "longer"} over the run, by ${share(Math.abs(loop.trend))} of the median.`;
  return `${many}: median ${median}, ${least} to ${most}.${trend}`;
}

/** What has to be known of the numbers where only some iterations were recorded, as `replay-show iterations` says it. */
function Recorded({ iterations }: { iterations: Iterations }) {
  const { recorded } = iterations.loop;
  if (recorded?.is_short && !recorded.are_main_loop) {
    const kept = recorded.iterations === 1 ? "iteration" : `${recorded.iterations} iterations`;
    return <p class="limit">These are not the {kept} of {recorded.of} that the short archive was made of.</p>;
  }
  if (!recorded || !iterations.areRenumbered) return null;
  return (
    <p class="limit">
      {recorded.is_short ? `They were kept of ${recorded.of} in a short archive` : "Only some were recorded"}; beside their numbers here are those in the program.
    </p>
  );
}

/** What has to be known where iterations of one number are not the same everywhere. */
function Correspondence({ iterations }: { iterations: Iterations }) {
  const { crossing, disagreeing } = iterations.loop;
  if (crossing === 0 && disagreeing === 0) return null;
  const counted = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"}`]);
  const all = [...counted(crossing, "message"), ...counted(disagreeing, "collective operation")];
  return (
    <p class="correspondence">
      Iterations of one number do not correspond on all locations: {all.join(" and ")} {crossing + disagreeing === 1 ? "joins" : "join"} different ones.
    </p>
  );
}

/** Timing and reporting shared by the benchmarks. */

export interface Result {
  work: string;
  /** Milliseconds, unless `unit` says otherwise. */
  ours: number;
  /** The reference value, measured in the same run. */
  peer: string;
  theirs: number;
  /** The required ratio. Missing for a row without a limit. */
  bar?: { ratio: "ours/theirs" | "theirs/ours"; atMost?: number | undefined; atLeast?: number | undefined } | undefined;
  unit?: string | undefined;
}

/** A module that writes the peak memory of its process, threads included, to the file `BENCH_RSS` at exit. */
export const NOTE_MEMORY = `data:text/javascript,${encodeURIComponent(
  `import { writeFileSync } from "node:fs";
   process.on("exit", () => writeFileSync(process.env.BENCH_RSS, String(process.resourceUsage().maxRSS)));`,
)}`;

/** The median of repeated runs, each timed on its own. */
export async function median(runs: number, task: (index: number) => Promise<void> | void): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < runs; index++) {
    const start = performance.now();
    await task(index);
    times.push(performance.now() - start);
  }
  return middle(times);
}

/** Medians of two tasks whose runs alternate, so that both see the same disk and the same neighbours. */
export async function compare(
  runs: number,
  first: (index: number) => Promise<void> | void,
  second: (index: number) => Promise<void> | void,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let index = 0; index < runs; index++) {
    times[0].push(await median(1, () => first(index)));
    times[1].push(await median(1, () => second(index)));
  }
  return [middle(times[0]), middle(times[1])];
}

function middle(times: readonly number[]): number {
  return percentile(times, 50);
}

export function percentile(times: readonly number[], percent: number): number {
  const place = Math.min(times.length - 1, Math.floor((times.length * percent) / 100));
  return times.toSorted((a, b) => a - b)[place] ?? Number.NaN;
}

export interface Verdict {
  shown: string;
  bar: string;
  ok: boolean | undefined;
}

export function judge({ ours, theirs, bar }: Result): Verdict {
  if (bar === undefined) return { shown: `${(ours / theirs).toFixed(2)} ×`, bar: "", ok: undefined };
  const ratio = bar.ratio === "ours/theirs" ? ours / theirs : theirs / ours;
  if (bar.atMost !== undefined) {
    return { shown: `${ratio.toFixed(2)} ×`, bar: `≤ ${bar.atMost} ×`, ok: ratio <= bar.atMost };
  }
  const atLeast = bar.atLeast ?? 0;
  if (bar.ratio === "ours/theirs")
    return { shown: `${ratio.toFixed(2)} ×`, bar: `≥ ${atLeast} ×`, ok: ratio >= atLeast };
  return { shown: `${ratio.toFixed(0)} × faster`, bar: `≥ ${atLeast} ×`, ok: ratio >= atLeast };
}

export function printResults(results: readonly Result[]): void {
  const rows = results.map((result) => {
    const { shown, bar, ok } = judge(result);
    return [
      result.work,
      format(result.ours, result.unit),
      `${result.peer}: ${format(result.theirs, result.unit)}`,
      shown,
      bar,
      ok === undefined ? "" : ok ? "ok" : "MISSED",
    ];
  });
  const titles = ["work", "ours", "beside", "ratio", "bar", ""];
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  for (const row of [titles, ...rows]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

function format(value: number, unit = "ms"): string {
  return `${value < 10 ? value.toFixed(3) : value.toFixed(1)} ${unit}`;
}

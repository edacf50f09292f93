/**
 * What is counted between two scrapes.
 *   M1  What happens often costs an addition to a number; names and labels are put together when the page is read.
 *   M2  A metric has at most `MAX_SERIES` series, whatever is counted.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { MAX_SERIES, OTHER } from "./metrics-table.ts";

const SEPARATOR = "\n";

/** Numbers by the values of some labels. */
export class Counts {
  readonly #labels: readonly string[];
  readonly #numbers = new Map<string, number>();

  constructor(labels: readonly string[] = []) {
    this.#labels = labels;
  }

  /** Adds to the series of these values, one for each label. */
  add(values: readonly string[], amount = 1): void {
    const key = values.length === 1 ? (values[0] as string) : values.join(SEPARATOR);
    const before = this.#numbers.get(key);
    if (before !== undefined) this.#numbers.set(key, before + amount);
    else if (this.#numbers.size < MAX_SERIES) this.#numbers.set(key, amount);
    else this.#addToOther(amount);
  }

  *entries(): Generator<readonly [labels: Record<string, string>, value: number]> {
    for (const [key, value] of this.#numbers) {
      const values = key.split(SEPARATOR);
      yield [Object.fromEntries(this.#labels.map((name, at) => [name, values[at] ?? ""])), value];
    }
  }

  #addToOther(amount: number): void {
    const other = this.#labels.map(() => OTHER).join(SEPARATOR);
    this.#numbers.set(other, (this.#numbers.get(other) ?? 0) + amount);
  }
}

/** Times in buckets, in seconds. */
export class Times {
  readonly bounds: readonly number[];
  /** Of each bucket alone; the last one is above every bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < this.bounds.length && seconds > (this.bounds[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += seconds;
  }

  /** The series of a histogram of this name. */
  values(name: string, labels: Record<string, string>): readonly SeriesValue[] {
    let count = 0;
    const buckets = Array.from(this.counts, (own, at) => {
      count += own;
      const le = this.bounds[at] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

const RESOLUTION_MS = 20;
const NS_PER_S = 1e9;
const QUANTILES = [0.5, 0.99, 1];

/** The delay of the event loop as a summary. It is watched from the first question on: watching costs a timer. */
export class LoopDelay {
  #histogram: IntervalHistogram | undefined;
  #sum = 0;
  #count = 0;

  /** Quantiles since the last question, and all there was, in seconds. */
  values(name: string): readonly SeriesValue[] {
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#histogram.enable();
    }
    const seen = this.#histogram;
    const quantiles = QUANTILES.map((quantile) => ({
      labels: { quantile },
      value: seen.count > 0 ? seen.percentile(quantile * 100) / NS_PER_S : 0,
    }));
    if (seen.count > 0) {
      this.#count += seen.count;
      this.#sum += (seen.mean * seen.count) / NS_PER_S;
    }
    seen.reset();
    return [
      ...quantiles,
      { metricName: `${name}_sum`, labels: {}, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, value: this.#count },
    ];
  }

  close(): void {
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}

export interface SeriesValue {
  readonly metricName?: string;
  readonly labels: { readonly [name: string]: string | number };
  readonly value: number;
}

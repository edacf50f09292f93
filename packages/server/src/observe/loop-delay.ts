/** The delay of the event loop as a summary. It is watched from the first question on: watching costs a timer. */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { SeriesValue } from "./series.ts";

const RESOLUTION_MS = 20;
const NS_PER_S = 1e9;
const QUANTILES = [0.5, 0.99, 1];

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

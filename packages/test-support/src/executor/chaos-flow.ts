/** What runs under the kills. */
import { RUN_HEADER } from "./effect-counter.ts";

export interface ChaosFlow {
  readonly steps: number;
  readonly minStepMs: number;
  readonly maxStepMs: number;
}

/** Steps `s0`, `s1` … one after another, each an effect that takes a while; `asks`: with the question `ask` in the middle. */
export function flowText(flow: ChaosFlow, url: string, { n, asks }: { n: number; asks: boolean }) {
  const { steps, minStepMs, maxStepMs } = flow;
  const span = maxStepMs - minStepMs + 1;
  const ids = Array.from({ length: steps }, (_, at) => `s${at}`);
  const nodes = ids.map((id, at) => {
    const ms = minStepMs + ((at * 31 + n * 17) % span); // each its own time, the same in every run of the suite
    return `node ${id}: http.request {\n  method = "POST"\n  url = "${url}/${id}?ms=${ms}"\n  headers = { "${RUN_HEADER}": run.id }\n}`;
  });
  const order = asks ? [...ids.slice(0, steps >> 1), "ask", ...ids.slice(steps >> 1)] : ids;
  const edges = order.slice(1).map((to, at) => {
    const from = order[at];
    return `${from === "ask" ? "ask.approved" : from} -> ${to}`;
  });
  const question = asks ? ['node ask: confirm {\n  prompt = "Go on?"\n}'] : [];
  return `${["flow 1 chaos", ...nodes, ...question, edges.join("\n")].join("\n\n")}\n`;
}

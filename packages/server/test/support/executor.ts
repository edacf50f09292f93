/** Executors over a store, and the logs of their runs. */
import type { StoredEvent } from "@millrace/contracts";
import { parseEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor, type LocalExecutorOptions } from "@millrace/server";
import type { Store } from "@millrace/store";
import { onTestFinished } from "vitest";
import { ASK_PLAINLY, HELLO, SLEEP } from "./flows.ts";

export const graphOf = (dsl: string) => parseFlow(dsl).graph;
export const hello = { graph: graphOf(HELLO), inputs: {}, trigger: "embed" } as const;
export const sleep = { ...hello, graph: graphOf(SLEEP) };
export const ask = { ...hello, graph: graphOf(ASK_PLAINLY) };

export type Limits = Pick<LocalExecutorOptions, "maxLiveRuns" | "maxQueuedRuns" | "registry">;

/** An executor over a store, which is closed after it. */
export function over(store: Store, options: Limits = {}) {
  const { journal } = store;
  const engine = createEngine({ host: createNodeHost(), journal });
  const executor = createLocalExecutor({ engine, store, ...options });
  onTestFinished(async () => {
    await executor.close({ graceMs: 0 });
    await store.close();
  });
  return { executor, journal, store };
}

export async function logOf(pages: AsyncIterable<readonly StoredEvent[]>) {
  const events: StoredEvent[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

export async function readUntil(pages: AsyncIterable<readonly StoredEvent[]>, kind: string) {
  const events: StoredEvent[] = [];
  for await (const page of pages) {
    events.push(...page);
    if (page.some((event) => event.kind === kind)) return events;
  }
  throw new Error(`no ${kind} among ${events.map((event) => event.kind)}`);
}

export const textOf = ({ line }: StoredEvent) => Buffer.from(line).toString();
export const eventsOf = (log: readonly StoredEvent[]) =>
  log.map((event) => parseEvent(textOf(event)));

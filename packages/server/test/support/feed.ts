/** Following the feed of all runs. */
import type { AnyEvent } from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { onTestFinished } from "vitest";
import { frames } from "./streams.ts";

export interface Follower {
  readonly events: readonly AnyEvent[];
  /** Resolves when there are so many events of this kind. */
  until(kind: string, count: number): Promise<void>;
}

/** Reads the feed from now on, until the test is over. */
export async function follow(server: RunningServer): Promise<Follower> {
  const events: AnyEvent[] = [];
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${server.url}/api/events`, { signal: stop.signal });
  const reading = async () => {
    for await (const { event } of frames(response)) {
      events.push(event);
      for (const resolve of waiting) resolve();
      waiting.clear();
    }
  };
  reading().catch(() => {}); // the end of the test
  return {
    events,
    async until(kind, count) {
      while (events.filter((event) => event.kind === kind).length < count) {
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
  };
}

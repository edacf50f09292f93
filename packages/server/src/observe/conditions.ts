/** Tells the log when the store, or what gives runs to servers, is away, and when it is back. */
import type { Dispatcher } from "@millrace/contracts";
import { type Store, StoreError } from "@millrace/store";
import type { Logger, Metrics } from "../ports.ts";

/** A dispatcher says how it is when it is asked. */
const LOOK_MS = 1_000;

/** Lines of work that asks the store again and again, and is repeated when it is back. */
const REPEATED: ReadonlySet<string | undefined> = new Set([
  ...["schedule.failed", "notifications.failed", "bells.not_read"],
  ...["run.not_rung", "run.not_taken_over", "run.drive_failed"],
]);

/** The same log without what such work says of a store that is away: `store.lost` has said it. All other lines stay. */
export function withoutEchoes(log: Logger, store: Pick<Store, "condition">): Logger {
  const isEcho = ({ err }: { readonly err?: unknown }, text?: string) =>
    REPEATED.has(text) && StoreError.isInstance(err) && err.code === store.condition;
  return {
    debug: (fields, text) => log.debug(fields, text),
    info: (fields, text) => log.info(fields, text),
    warn: (fields, text) => isEcho(fields, text) || log.warn(fields, text),
    error: (fields, text) => isEcho(fields, text) || log.error(fields, text),
  };
}

/** Watches until the answer is called. */
export function watchConditions({
  store,
  dispatcher,
  log,
}: {
  readonly store: Store;
  readonly dispatcher: Dispatcher | undefined;
  readonly log: Logger;
}): () => void {
  let problem: string | undefined;
  const ofStore = createTeller((isUp, ms) => {
    if (isUp) log.info({ ms }, "store.back");
    else log.error({ condition: store.condition, ...(problem && { problem }) }, "store.lost");
  });
  const look = (_isFull?: boolean, why?: string) => {
    problem = why;
    ofStore(store.condition === "ok");
  };
  const stopRoom = store.journal.watchRoom?.(look);
  let isWatched = true;
  void store.lost.then(() => isWatched && look()); // a writer that is dead tells of no room
  const unwatch = () => {
    isWatched = false;
    stopRoom?.();
  };
  if (dispatcher === undefined) return unwatch;
  const ofDispatcher = createTeller((isUp, ms) => {
    if (isUp) log.info({ ms }, "dispatcher.back");
    else log.error({}, "dispatcher.lost");
  });
  const timer = setInterval(() => ofDispatcher(dispatcher.condition === "ok"), LOOK_MS).unref();
  return () => {
    clearInterval(timer);
    unwatch();
  };
}

/** Tells changes alone; `ms`: how long it was as it was before. */
function createTeller(tell: (isUp: boolean, ms: number) => void): (isUp: boolean) => void {
  let before = true;
  let since = performance.now();
  return (isUp) => {
    if (isUp === before) return;
    const ms = Math.round(performance.now() - since);
    before = isUp;
    since = performance.now();
    tell(isUp, ms);
  };
}

/** The same dispatcher; what it rings is counted. */
export function countedDispatcher(dispatcher: Dispatcher, metrics: Metrics): Dispatcher {
  return {
    get condition() {
      return dispatcher.condition;
    },
    async ring(runId, options) {
      try {
        await dispatcher.ring(runId, options);
        metrics.add("millrace_rings_total", ["sent"]);
      } catch (error) {
        metrics.add("millrace_rings_total", ["failed"]);
        throw error;
      }
    },
    serve: (drive) => dispatcher.serve(drive),
    close: (options) => dispatcher.close(options),
  };
}

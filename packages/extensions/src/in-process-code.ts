/** The code of an extension in this process: trusted, fast, and only watched. */
import type { ControlContext } from "@millrace/contracts";
import type { Fields } from "@millrace/engine";
import { isPromise } from "@millrace/engine/pack";
import { type Body, type ExtensionCode, loadCode } from "./code.ts";
import {
  type HostCode,
  type HostCodeOptions,
  inTime,
  lazyProvider,
  loadProblem,
  STALE,
  settled,
} from "./host-code.ts";
import { watchLoop } from "./loop-watch.ts";
import { ProblemFound, problemError } from "./problem.ts";

const ADVICE_AFTER = 3; // bodies that went on; by then it is no accident

export function createInProcessCode(options: HostCodeOptions): HostCode {
  const { entry, config, host, times, warn } = options;
  let loading: Promise<ExtensionCode> | undefined;
  let ignored = 0;
  const watch = watchLoop(
    {
      still(ms) {
        warn(
          "extension_blocked_loop",
          `the event loop stood still for ${ms} ms while its code ran`,
        );
      },
      late() {
        ignored += 1;
        const advice =
          ignored < ADVICE_AFTER
            ? ""
            : "; a process of its own could be ended: millrace ext add it again without --in-process";
        warn("extension_ignored_abort", `a body goes on after its attempt has ended${advice}`);
      },
    },
    times.killMs,
  );
  let ready: ExtensionCode | undefined;

  /** Once: what failed to load is tried again by a restart. */
  const load = (): Promise<ExtensionCode> => {
    loading ??= options
      .unchanged()
      .then(() => inTime(times.loadMs, loadCode(entry, { config, host })))
      .then(
        (code) => {
          if (code.digest === options.digest) {
            ready = code;
            return code;
          }
          options.failed(STALE);
          throw problemError(STALE);
        },
        async (error: unknown) => {
          if (error instanceof Error && !(error instanceof ProblemFound)) {
            options.said("stderr", String(error.stack));
          }
          const problem = await loadProblem(error, options);
          options.failed(problem);
          throw problemError(problem);
        },
      );
    return loading;
  };

  /** A body that answers at once costs no turn of the event loop. */
  const watched = (body: Body, fields: Fields, ctx: ControlContext): unknown => {
    watch.begin();
    const result = body(fields, ctx);
    if (!isPromise(result)) return result;
    watch.follow(ctx);
    return Promise.resolve(result).finally(() => watch.end(ctx));
  };

  return {
    body({ type }) {
      let body: Body | undefined;
      return (fields, ctx) => {
        body ??= ready?.body(type);
        if (body !== undefined) return watched(body, fields, ctx);
        return load().then((code) => watched(code.body(type), fields, ctx));
      };
    },
    check: async (type, fields) => (await load()).check(type, fields),
    provider: (id) => lazyProvider(id, async () => (await load()).provider(id)),
    async close() {
      watch.close();
      const closed = loading?.then((code) => code.close());
      if (closed !== undefined) await settled(closed);
    },
  };
}

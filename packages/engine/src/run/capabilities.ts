/** Network, files and programs as one attempt may use them: bound to the engine's policies, and to the life of the attempt. */
import { type FetchLike, type FilePort, NodeError, type SpawnPort } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { grantedFiles } from "./granted-files.ts";
import type { Attempt } from "./state.ts";

/** The egress client as a type may use it. Throws `capability_denied` for an extension that was granted no host. */
export function typeFetch(attempt: Attempt, signal: AbortSignal, type: NodeType): FetchLike {
  if (type.grants?.net.length === 0) throw notGranted(type, "no host of the network");
  return guardedFetch(attempt, signal, attempt.run.engine.fetchOf(type));
}

/** The egress client; every request ends with the attempt. */
export function guardedFetch(
  attempt: Attempt,
  signal: AbortSignal,
  fetch: FetchLike | null = attempt.run.engine.fetch,
): FetchLike {
  if (fetch === null) throw unsupported("the network");
  return async (url, init = {}) => {
    refuseOver(attempt);
    const own = init.signal;
    if (own === undefined || own === signal) return fetch(url, { ...init, signal });
    const both = new AbortController();
    const abort = () => both.abort(signal.aborted ? signal.reason : own.reason);
    if (signal.aborted || own.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    own.addEventListener("abort", abort, { once: true });
    // Both stay bound: the body is still to be read when the head has come.
    return fetch(url, { ...init, signal: both.signal });
  };
}

/** Files below the root that the operator allows, and for an extension the folders of it that were granted. */
export function guardedFiles(attempt: Attempt, signal: AbortSignal, type: NodeType): FilePort {
  const { engine } = attempt.run;
  const { grants } = type;
  const { files: policy } = engine.options;
  if (grants !== undefined && grants.files.read.length + grants.files.write.length === 0) {
    throw notGranted(type, "no folder");
  }
  if (policy === undefined) throw off("files are off; the operator must allow a folder");
  if (engine.files === null) throw unsupported("files");
  const files = grants === undefined ? engine.files : grantedFiles(engine.host, policy, grants);
  return {
    read: (path, more) => use(attempt, () => files.read(path, { signal, ...more })),
    write: (path, data, more) => use(attempt, () => files.write(path, data, { signal, ...more })),
    list: (path, more) => use(attempt, () => files.list(path, { signal, ...more })),
  };
}

/** Programs that the operator allows; each ends with the attempt. */
export function guardedShell(attempt: Attempt, signal: AbortSignal, type: NodeType): SpawnPort {
  const { shell, options } = attempt.run.engine;
  const granted = type.grants?.spawn;
  if (options.shell === undefined) throw off("programs are off; the operator must allow them");
  if (shell === null) throw unsupported("programs");
  return {
    async run(program, more) {
      if (granted?.includes(program) === false) {
        throw notGranted(type, `the program ${program.slice(0, 64)} not`);
      }
      return use(attempt, () => shell.run(program, { ...more, signal }));
    },
  };
}

function use<T>(attempt: Attempt, act: () => Promise<T>): Promise<T> {
  refuseOver(attempt);
  return act();
}

function refuseOver(attempt: Attempt): void {
  if (!attempt.over) return;
  throw new NodeError("attempt_over", "the attempt of this node has ended", { reason: "internal" });
}

function notGranted({ entry }: NodeType, what: string): NodeError {
  return off(`${entry.type} was granted ${what}; see millrace ext list`);
}

function off(message: string): NodeError {
  return new NodeError("capability_denied", message, { reason: "denied", sent: false });
}

function unsupported(what: string): NodeError {
  return new NodeError("host_unsupported", `this platform does not offer ${what}`, {
    reason: "denied",
    sent: false,
  });
}

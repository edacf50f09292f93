/**
 * The program of a child: one extension in a process of its own, under the permission model of Node. It speaks to its host
 * over one pipe alone, and ends with it.
 */
import { Socket } from "node:net";
import { inspect } from "node:util";
import {
  type HostContext,
  isNodeExit,
  type JsonObject,
  NodeError,
  NotJsonError,
} from "@millrace/contracts";
import type { Fields } from "@millrace/engine";
import { toOutput } from "@millrace/engine/pack";
import { catalogOf } from "../catalog.ts";
import { type ExtensionCode, importDefinition, loadCode } from "../code.ts";
import { ProblemFound } from "../problem.ts";
import { type CallStart, ChildContext } from "./context.ts";
import { LINE_FD, openLine } from "./line.ts";
import { callModel, type ModelCall, type ModelRequest } from "./models.ts";
import { type Frame, Peer } from "./peer.ts";
import { closeNetwork } from "./tripwire.ts";
import { fromWire } from "./wire.ts";

/** First request of the host. */
interface LoadFrame {
  readonly entry: string;
  readonly tripwire: boolean;
  /** Whether its code may open sockets, each after the host was asked. */
  readonly sockets: boolean;
  readonly now: number;
  readonly config: { readonly [id: string]: JsonObject };
}

/** Request of the host to run an attempt. */
interface RunFrame {
  readonly id: number;
  readonly type: string;
  readonly fields: Fields;
  readonly ctx: CallStart;
}

const calls = new Map<number, ChildContext>();
const models = new Map<number, ModelCall>();
let code: ExtensionCode | undefined;

const pipe = new Socket({ fd: LINE_FD, readable: true, writable: true });
const send = openLine(pipe, {
  frame: (frame) => peer.receive(frame),
  broken: () => process.exit(1),
});
const peer: Peer = new Peer(send, {
  request(op, frame) {
    switch (op) {
      case "load":
        return load(frame as unknown as LoadFrame);
      case "catalog":
        return problemsCross(async () => catalogOf(await importDefinition(String(frame["entry"]))));
      case "run":
        return run(frame as unknown as RunFrame);
      case "step":
        return calls.get(frame["call"] as number)?.runStep(String(frame["key"]));
      case "check":
        return check(frame);
      case "model":
        return useModel(frame);
      case "close":
        return loaded().close();
      default:
        return undefined;
    }
  },
  notify(op, frame) {
    if (op !== "cancel") return false;
    const call = frame["call"] as number;
    const reason = new NodeError("cancelled", `the attempt is to stop: ${String(frame["reason"])}`);
    calls.get(call)?.cancel(reason);
    models.get(call)?.cancel(reason);
    return true;
  },
  dropped() {},
  showsThrown: true,
});

pipe.on("close", () => process.exit(0));
peer.tell("ready", {});

async function load({ entry, tripwire, sockets, now, config }: LoadFrame): Promise<unknown> {
  const ask = async (host: string, port: number): Promise<readonly string[]> =>
    (await peer.request("host.addresses", { call: 0, host, port })) as string[];
  if (tripwire) closeNetwork(sockets ? ask : undefined);
  const loading = loadCode(entry, { config, host: hostContext(now) });
  loading.catch((error: unknown) => {
    if (error instanceof ProblemFound) return;
    process.stderr.write(`${inspect(error)}\n`); // seen where the host reads standard error
  });
  code = await problemsCross(() => loading);
  return { catalogDigest: code.digest };
}

/** A problem crosses by its code: the class of the other end is another one. */
async function problemsCross<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProblemFound) throw new NodeError(error.problem.code, error.message);
    const { permission, resource } = Object(error) as NodeJS.Dict<unknown>;
    if (permission !== "FileSystemRead") throw error;
    const text = `it may not read ${resource}: packages that it imports belong into its "dependencies"`;
    throw new NodeError("extension_load_failed", text);
  }
}

async function run({ id, type, fields, ctx }: RunFrame): Promise<unknown> {
  const context = new ChildContext(ctx, {
    ask: (op, body) => peer.request(op, { call: id, ...body }),
    tell: (kind, body) => peer.tell("event", { call: id, kind, ...body }),
  });
  calls.set(id, context);
  try {
    const result = await loaded().body(type)(fields, context);
    const output = toOutput(isNodeExit(result) ? result.output : result, ({ pointer, message }) =>
      context.log("warn", `output${pointer}: ${message}`),
    );
    return isNodeExit(result) ? { port: result.port, output } : { output };
  } catch (error) {
    throw speaking(error);
  } finally {
    context.over();
    calls.delete(id);
  }
}

/** What says nothing secret crosses with its message: no JSON, and what the permission model of Node denies. */
function speaking(thrown: unknown): unknown {
  if (NotJsonError.isInstance(thrown)) {
    return new NodeError(thrown.code, thrown.message, { reason: "output" });
  }
  const { code, permission } = Object(thrown) as NodeJS.Dict<unknown>;
  if (code !== "ERR_ACCESS_DENIED" || !/^[A-Za-z]{1,32}$/.test(String(permission))) return thrown;
  const text = `Node denied ${permission}: code of an extension reaches files by ctx.files and programs by ctx.shell, as far as its manifest asks for them`;
  return new NodeError("permission_denied", text, { reason: "denied" });
}

async function check({ type, fields }: Frame): Promise<unknown> {
  const known = Object.entries(fields as object).map(([name, value]) => [name, value]);
  return loaded().check(String(type), Object.fromEntries(known));
}

function useModel(frame: Frame): Promise<unknown> {
  const id = frame.id as number;
  const request = fromWire(frame) as ModelRequest;
  const used = callModel(loaded().provider(request.provider), request, {
    ask: (op, body) => peer.request(op, { call: id, ...body }),
    tell: () => {},
    parts: (parts) => peer.tell("parts", { call: id, parts }),
  });
  models.set(id, used);
  return used.answer.finally(() => models.delete(id));
}

function loaded(): ExtensionCode {
  if (code !== undefined) return code;
  throw new NodeError("extension_load_failed", "nothing is loaded");
}

/** Outside of any attempt: call 0, which is always open. */
function hostContext(now: number): HostContext {
  const context = new ChildContext(
    { runId: "", node: "", attempt: 0, idempotencyKey: "", now, config: {} },
    {
      ask: (op, body) => peer.request(op, { call: 0, ...body }),
      tell: (kind, body) => peer.tell("event", { call: 0, kind, ...body }),
    },
  );
  return {
    fetch: context.fetch,
    signal: context.signal,
    now: () => context.now(),
    random: () => Math.random(),
    log: (level, text, data) => context.log(level, text, data),
  };
}

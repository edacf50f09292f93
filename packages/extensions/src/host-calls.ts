/**
 * The calls that a child has open, on the side of the host: what a body asks for is done by its context here, under the
 * policies of the engine.
 */
import {
  type ControlContext,
  type FetchInit,
  type FileRange,
  type Json,
  type JsonObject,
  NodeError,
  type ResponseLike,
  type SpawnOptions,
} from "@millrace/contracts";
import type { EgressResolver } from "@millrace/engine/node";
import type { WireResponse } from "./child/context.ts";
import type { Frame } from "./child/peer.ts";
import { base64, fromWire, toWire } from "./child/wire.ts";

/** Largest body of a response that fits into a message as base64, with room for its head. */
const MAX_BODY_BYTES = 11 * 1_048_576;

/** The part of a context that a use of a provider and the extension as a whole have. */
export type NetworkOnly = Pick<ControlContext, "fetch" | "log">;

export interface OpenCall {
  readonly ctx: ControlContext | NetworkOnly;
  /** The addresses that a socket of the extension may use. */
  addresses?: EgressResolver;
  /** Parts of a stream have come. */
  parts?(parts: readonly unknown[]): void;
}

interface AskingCall extends OpenCall {
  /** Asks the child for the result of a step. */
  step(key: string): Promise<unknown>;
}

/** Handles a request of a child for an open call; undefined: the operation is unknown. */
export function hostRequest(
  op: string,
  call: AskingCall,
  frame: Frame,
): Promise<unknown> | undefined {
  const asked = fromWire(frame) as { readonly [member: string]: unknown };
  if (op === "host.fetch") {
    const { url, init } = asked as { url: string; init?: FetchInit };
    return sent(() => call.ctx.fetch(String(url), limited(init)));
  }
  if (op === "host.addresses") {
    const { host, port } = asked as { host: unknown; port: unknown };
    return call.addresses?.(String(host), Number(port));
  }
  if (!("files" in call.ctx)) return undefined;
  const { ctx } = call;
  const act = Object.hasOwn(ACTS, op) ? ACTS[op] : undefined;
  return act === undefined ? undefined : act(ctx, asked as never, call).then(toWire);
}

type Act = (ctx: ControlContext, asked: never, call: AskingCall) => Promise<unknown>;

const ACTS: { readonly [op: string]: Act } = {
  "host.files.read": async (
    ctx,
    { path, maxBytes, range }: { path: string; maxBytes?: number; range?: FileRange },
  ) => {
    counted(maxBytes, "files.read");
    if (range !== undefined && !(isCount(range?.offset) && isCount(range?.length))) {
      throw takes("files.read takes a range of counts from 0");
    }
    return ctx.files.read(String(path), {
      ...(maxBytes !== undefined && { maxBytes }),
      ...(range !== undefined && { range }),
    });
  },
  "host.files.write": async (
    ctx,
    { path, data, mode }: { path: string; data: unknown; mode?: "create" | "replace" | "append" },
  ) => {
    if (!(data instanceof Uint8Array)) throw takes("files.write takes bytes");
    return ctx.files.write(String(path), data, mode === undefined ? {} : { mode });
  },
  "host.files.list": async (
    ctx,
    { path, glob, max }: { path: string; glob?: string; max?: number },
  ) =>
    ctx.files.list(String(path), {
      ...(glob !== undefined && { glob }),
      ...(counted(max, "files.list") !== undefined && { max }),
    }),
  "host.shell": async (ctx, { program, options }: { program: string; options: SpawnOptions }) => {
    counted(options.maxBytes, "shell.run");
    return ctx.shell.run(String(program), options);
  },
  "host.secret": async (ctx, { name }: { name: string }) =>
    (await ctx.credentials.secret(String(name))).reveal(),
  "host.connection": async (ctx, { slug }: { slug: string }) => {
    const { baseUrl } = await ctx.credentials.connection(String(slug));
    return { baseUrl };
  },
  "host.connection.fetch": async (
    ctx,
    { slug, path, init }: { slug: string; path: string; init?: FetchInit },
  ) => {
    const connection = await ctx.credentials.connection(String(slug));
    return sent(() => connection.fetch(String(path), limited(init)));
  },
  "host.sleep": async (ctx, { ms }: { ms: number }) => ctx.sleep(ms),
  "host.confirm": async (
    ctx,
    { key, request }: { key: string; request: Parameters<ControlContext["confirm"]>[1] },
  ) => ctx.confirm(String(key), request),
  "host.step": async (ctx, { key }: { key: string }, call) =>
    ctx.step(String(key), async () => (await call.step(key)) as Json),
};

/** Handles a message of a child about an open call; false: it is unknown. */
export function hostEvent(call: OpenCall, frame: Frame): boolean {
  const { kind, level, text, data, done, total } = frame as { readonly [member: string]: unknown };
  if (kind === "log") {
    call.ctx.log(level as "info", text as string, fromWire(data) as JsonObject | undefined);
    return true;
  }
  if (kind !== "progress" || !("progress" in call.ctx)) return false;
  call.ctx.progress(done as number, total as number | undefined);
  return true;
}

async function sent(send: () => Promise<ResponseLike>): Promise<WireResponse> {
  const response = await send();
  const headers: [string, string][] = [];
  response.headers.forEach((value, name) => {
    headers.push([name, value]);
  });
  const { status, url } = response;
  const body = base64(new Uint8Array(await response.arrayBuffer()));
  return { status, url, headers, body };
}

/** Requests of a child are untyped; a limit that is no number counts as absent. */
function limited(init: FetchInit = {}): FetchInit {
  const { maxBytes = MAX_BODY_BYTES, maxRedirects = 0 } = init;
  if (!isCount(maxBytes) || !isCount(maxRedirects)) throw takes("fetch takes limits from 0");
  return { ...init, maxBytes: Math.min(maxBytes, MAX_BODY_BYTES) };
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** As `limited`, for an option that may be left out. */
function counted(value: number | undefined, what: string): number | undefined {
  if (value === undefined || isCount(value)) return value;
  throw takes(`${what} takes limits from 0`);
}

function takes(text: string): NodeError {
  return new NodeError("extension_threw", `ctx.${text}`, { reason: "internal" });
}

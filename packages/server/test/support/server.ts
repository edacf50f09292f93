/** Servers on loopback port 0 that end with their test, and ways to talk to them. */
import { connect, type Socket } from "node:net";
import type { ProblemDocument } from "@millrace/contracts";
import { type Logger, type RunningServer, type StartOptions, start } from "@millrace/server";
import { onTestFinished } from "vitest";

/** A log that keeps its lines. */
export interface KeptLog extends Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: object }[];
}

export function keepLog(): KeptLog {
  const lines: KeptLog["lines"] = [];
  const at =
    (level: string) =>
    (fields: object, message = "") => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Starts a server on a free port. */
export async function serve(options: StartOptions = {}): Promise<RunningServer> {
  const server = await start({
    port: 0,
    signals: false,
    store: "memory",
    log: keepLog(),
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

/** Sends JSON. */
export function post(
  server: RunningServer,
  path: string,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(server.url + path, {
    method: "POST",
    body: JSON.stringify(body),
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
  });
}

/** Invokes a command and gives its answer; anything but 200 is an error of the test. */
export async function invoke<T>(server: RunningServer, command: string, args: object): Promise<T> {
  const response = await post(server, "/api/invoke", { command, args });
  if (response.status !== 200) throw new Error(`${command}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Approves the first confirmation of a run. */
export function approve(server: RunningServer, runId: string): Promise<unknown> {
  return invoke(server, "resolve_confirmation", {
    runId,
    confirmationId: "k1",
    decision: "approve",
  });
}

export async function problemOf(response: Response): Promise<ProblemDocument> {
  if (response.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`not a problem: ${response.status} ${await response.text()}`);
  }
  return (await response.json()) as ProblemDocument;
}

/** An answer read from a bare socket. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly socket: Socket;
}

/** Sends these bytes and reads one answer; the socket stays open. */
export function sendRaw(server: RunningServer, text: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.address.port, server.address.address);
    onTestFinished(() => void socket.destroy());
    let received = "";
    socket.setEncoding("latin1");
    socket.on("error", reject);
    socket.on("data", (chunk: string) => {
      received += chunk;
      const answer = parseAnswer(received, socket, text.startsWith("HEAD "));
      if (answer !== undefined) resolve(answer);
    });
    socket.on("connect", () => socket.write(text, "latin1"));
  });
}

function parseAnswer(text: string, socket: Socket, bodiless: boolean): RawAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = text.slice(end + 4);
  if (!bodiless && body.length < Number(headers.get("content-length") ?? 0)) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body, socket };
}

/** A server of files on loopback that fails as it is told, and remembers what it was asked and how much it sent. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly authorization: string | undefined;
  status: number;
  /** Bytes of the body that were handed to the socket. */
  sent: number;
  /** Whether the other side closed before the end. */
  closed: boolean;
}

/** What a request gets instead of the file, or with it. */
export interface Fault {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** The body, whatever the file is; without a length. */
  readonly body?: string | Buffer;
  /** Ends the connection after so many bytes of the answer. */
  readonly cutAt?: number;
  /** Says nothing more after so many bytes, until the other side goes. */
  readonly stallAt?: number;
  /** Answers 200 with everything. */
  readonly noRanges?: true;
  /** Answers 206 from another place. */
  readonly from?: number;
  /** The file has changed. */
  readonly file?: Served;
  readonly chunked?: true;
}

export interface Served {
  readonly body: Buffer;
  /** Null: none. */
  readonly etag?: string | null;
  readonly lastModified?: string;
}

export interface FileServer {
  readonly origin: string;
  readonly asked: Asked[];
  /** Serves a file under a path; each request takes the next fault, later ones none. Answers its URL. */
  serve(path: string, file: Served, faults?: readonly (Fault | null)[]): string;
  close(): Promise<void>;
}

const PIECE = 65_536;

export async function openFileServer(): Promise<FileServer> {
  const files = new Map<string, { file: Served; faults: (Fault | null)[] }>();
  const asked: Asked[] = [];
  const server = createServer((request, reply) => {
    const path = request.url ?? "/";
    const { range, authorization } = request.headers;
    const ifRange = request.headers["if-range"];
    const entry: Asked = {
      path,
      range,
      ifRange: typeof ifRange === "string" ? ifRange : undefined,
      authorization,
      status: 404,
      sent: 0,
      closed: false,
    };
    asked.push(entry);
    reply.on("close", () => {
      entry.closed = !reply.writableEnded;
    });
    const found = files.get(path.split("?")[0] ?? "");
    if (found === undefined) return void reply.writeHead(404).end();
    void answer(request, reply, entry, { file: found.file, fault: found.faults.shift() ?? {} });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    asked,
    serve(path, file, faults = []) {
      files.set(path, { file, faults: [...faults] });
      return origin + path;
    },
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

async function answer(
  request: IncomingMessage,
  reply: ServerResponse,
  entry: Asked,
  { file, fault }: { file: Served; fault: Fault },
): Promise<void> {
  const { body, etag = '"one"', lastModified } = fault.file ?? file;
  const headers: { [name: string]: string } = {
    ...(etag === null ? {} : { etag }),
    ...(lastModified === undefined ? {} : { "last-modified": lastModified }),
  };
  if (fault.body !== undefined || (fault.status !== undefined && fault.cutAt === undefined)) {
    entry.status = fault.status ?? 200;
    reply.writeHead(entry.status, { ...headers, ...fault.headers });
    entry.sent = Buffer.byteLength(fault.body ?? "");
    return void reply.end(fault.body);
  }
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const known = request.headers["if-range"];
  const isRange =
    start > 0 && fault.noRanges === undefined && (known === etag || known === lastModified);
  if (isRange && start >= body.length) {
    entry.status = 416;
    return void reply.writeHead(416, { "content-range": `bytes */${body.length}` }).end();
  }
  const from = isRange ? (fault.from ?? start) : 0;
  entry.status = isRange ? 206 : 200;
  const range = { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` };
  const length = { "content-length": String(body.length - from) };
  reply.writeHead(entry.status, {
    ...headers,
    ...(isRange ? range : {}),
    ...(fault.chunked ? {} : length),
    ...fault.headers,
  });
  const end = Math.min(body.length - from, fault.cutAt ?? fault.stallAt ?? body.length);
  for (let at = 0; at < end && !reply.destroyed; at += PIECE) {
    const piece = body.subarray(from + at, from + Math.min(end, at + PIECE));
    entry.sent += piece.length;
    if (!reply.write(piece)) await drained(reply);
  }
  if (fault.stallAt !== undefined) return;
  if (fault.cutAt === undefined || fault.chunked) reply.end();
  else reply.destroy();
}

function drained(reply: ServerResponse): Promise<void> {
  return new Promise((go) => {
    const done = (): void => {
      reply.off("drain", done);
      reply.off("close", done);
      go();
    };
    reply.on("drain", done);
    reply.on("close", done);
  });
}

/** A message bus with a Secret Service of a few items, over a socket: what it answers is what the test says. */
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";

/** What the service answers: items of keytar by their account, and where new items go. */
export interface FakeKeyring {
  readonly open?: readonly string[];
  readonly locked?: readonly string[];
  readonly collection?: "open" | "locked" | "none";
  /** Answers every call to the service with this error, or only the first so many. */
  readonly errorName?: string;
  readonly errorCount?: number;
  /** Answers questions for properties with a number, whatever they are. */
  readonly isConfused?: boolean;
  /** Byte order of its messages; default little endian. */
  readonly isBigEndian?: boolean;
}

/** Starts a bus that understands a client as far as ours asks; returns the socket's path. */
export function fakeBus(keyring: FakeKeyring): Promise<string> {
  let errorsLeft = keyring.errorCount ?? Number.POSITIVE_INFINITY;
  return listen((socket) => {
    let bytes = Buffer.alloc(0);
    let isAuthenticated = false;
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (!isAuthenticated) {
        if (bytes.includes("BEGIN\r\n")) isAuthenticated = true;
        else if (bytes.includes("\r\n")) socket.write(`OK ${"0".repeat(32)}\r\n`);
        if (!isAuthenticated) return;
        bytes = bytes.subarray(bytes.indexOf("BEGIN\r\n") + 7);
      }
      for (let end = messageEnd(bytes); end <= bytes.length; end = messageEnd(bytes)) {
        const call = bytes.subarray(0, end);
        bytes = bytes.subarray(end);
        // In two parts, as the network may: a reader must wait for the second.
        const isError =
          keyring.errorName !== undefined && !call.includes("Hello") && errorsLeft-- > 0;
        const reply = answer(isError ? keyring : { ...keyring, errorName: "" }, call);
        socket.write(reply.subarray(0, 20));
        setImmediate(() => socket.write(reply.subarray(20)));
      }
    });
  });
}

/** Starts a socket that behaves as `onConnection` says; returns its path. */
export async function listen(
  onConnection: (socket: Socket) => void,
  path: string = join(temporaryFolder(), "bus"),
): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen({ path }, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return path;
}

function messageEnd(bytes: Buffer): number {
  if (bytes.length < 16) return Number.POSITIVE_INFINITY;
  return 16 + Math.ceil(bytes.readUInt32LE(12) / 8) * 8 + bytes.readUInt32LE(4);
}

function answer(keyring: FakeKeyring, call: Buffer): Buffer {
  const order = keyring.isBigEndian ? "B" : "l";
  const reply = (type: number, signature: string, body: number[], errorName?: string) =>
    message({ order, type, serial: call.readUInt32LE(8), signature, body, errorName });
  const write = new Bytes(order);
  if (call.includes("Hello")) return reply(2, "s", write.text(":1.7").all);
  if (keyring.errorName) return reply(3, "s", write.text("no").all, keyring.errorName);
  if (call.includes("SearchItems")) {
    const has = (account: string) => call.includes("account\0") && call.includes(`\0${account}\0`);
    const isAll = !call.includes("account\0") && !call.includes("username\0");
    const paths = (accounts: readonly string[] = []) =>
      accounts.filter((account) => isAll || has(account)).map((account) => `/item/${account}`);
    write.texts(paths(keyring.open)).texts(paths(keyring.locked));
    return reply(2, "aoao", write.all);
  }
  if (call.includes("ReadAlias")) {
    return reply(2, "o", write.text(keyring.collection === "none" ? "/" : "/collection").all);
  }
  if (keyring.isConfused) return reply(2, "v", write.signature("u").uint32(7).all);
  if (call.includes("Attributes")) {
    const [, account = ""] = /\/item\/(\w+)/.exec(call.toString("latin1")) ?? [];
    const body = write.signature("a{ss}").pairs({ service: "millrace", account }).all;
    return reply(2, "v", body);
  }
  return reply(2, "v", write.signature("b").uint32(keyring.collection === "locked" ? 1 : 0).all);
}

interface Reply {
  order: "l" | "B";
  type: number;
  serial: number;
  signature: string;
  body: number[];
  errorName: string | undefined;
}

function message({ order, type, serial, signature, body, errorName }: Reply): Buffer {
  const fields = new Bytes(order);
  fields.byte(5, 1, 0x75, 0).uint32(serial).align(8);
  if (errorName) fields.byte(4, 1, 0x73, 0).text(errorName).align(8);
  fields.byte(8).signature("g").signature(signature);
  const head = new Bytes(order).byte(order.charCodeAt(0), type, 0, 1);
  head.uint32(body.length).uint32(1).uint32(fields.all.length);
  return Buffer.from([...new Bytes(order, [...head.all, ...fields.all]).align(8).all, ...body]);
}

class Bytes {
  readonly all: number[];
  readonly #order: "l" | "B";

  constructor(order: "l" | "B", all: number[] = []) {
    this.#order = order;
    this.all = all;
  }

  byte(...bytes: number[]): this {
    this.all.push(...bytes);
    return this;
  }

  align(to: number): this {
    while (this.all.length % to !== 0) this.all.push(0);
    return this;
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    if (this.#order === "l") bytes.writeUInt32LE(value);
    else bytes.writeUInt32BE(value);
    return this.align(4).byte(...bytes);
  }

  text(text: string): this {
    return this.uint32(Buffer.byteLength(text)).byte(...Buffer.from(text), 0);
  }

  signature(text: string): this {
    return this.byte(text.length, ...Buffer.from(text), 0);
  }

  texts(texts: readonly string[]): this {
    return this.#array(4, () => {
      for (const text of texts) this.text(text);
    });
  }

  pairs(pairs: Record<string, string>): this {
    return this.#array(8, () => {
      for (const [name, text] of Object.entries(pairs)) this.align(8).text(name).text(text);
    });
  }

  #array(alignment: number, write: () => void): this {
    this.uint32(0);
    const lengthAt = this.all.length - 4;
    this.align(alignment);
    const start = this.all.length;
    write();
    const length = new Bytes(this.#order).uint32(this.all.length - start);
    this.all.splice(lengthAt, 4, ...length.all);
    return this;
  }
}

/**
 * A connection to a message bus, in plain JavaScript, so that a bus that is silent cannot hang the process: one call at a
 * time, each with a time limit. @see D-Bus Specification, "Authentication Protocol"
 */
import { connect, type Socket } from "node:net";
import {
  type BusCall,
  type BusMessage,
  decodeMessage,
  ERROR,
  encodeCall,
  REPLY,
} from "./bus-message.ts";

/**
 * Why a call has no answer. `refused`: nothing listens there. `silent`: no answer in time. `broken`: the connection
 * ended, or the bytes are not D-Bus. `error`: an error reply, named by `errorName`.
 */
export class BusError extends Error {
  override readonly name = "BusError";
  readonly reason: "refused" | "silent" | "broken" | "error";
  readonly errorName: string;

  constructor(reason: BusError["reason"], errorName = "") {
    super(`message bus: ${reason}`);
    this.reason = reason;
    this.errorName = errorName;
  }
}

export interface Bus {
  /** Sends a call and returns the body of the answer. Throws `BusError`. */
  call(call: BusCall): Promise<BusMessage["body"]>;
}

const LINE_END = "\r\n";
/** A line of the authentication is `OK` and 32 digits. */
const MAX_LINE_BYTES = 1024;

const HELLO: BusCall = {
  destination: "org.freedesktop.DBus",
  path: "/org/freedesktop/DBus",
  interface: "org.freedesktop.DBus",
  member: "Hello",
  signature: "",
  body: [],
};

/** Connects, does `work`, and closes the connection. Connecting and each call may take `timeoutMs`. */
export async function withBus<T>(
  options: { readonly path: string; readonly timeoutMs: number },
  work: (bus: Bus) => Promise<T>,
): Promise<T> {
  const inbox = new Inbox(connect({ path: options.path }), options.timeoutMs);
  try {
    await inbox.within(async () => {
      await inbox.connected();
      await authenticate(inbox);
    });
    let serial = 0;
    const bus: Bus = { call: (call) => inbox.within(() => ask(inbox, call, ++serial)) };
    await bus.call(HELLO);
    return await work(bus);
  } finally {
    inbox.close();
  }
}

/** Authenticates by user id; the bus compares it with the owner of the socket. */
async function authenticate(inbox: Inbox): Promise<void> {
  const user = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
  inbox.write(`\0AUTH EXTERNAL ${user}${LINE_END}`);
  const answer = await inbox.next(takeLine);
  if (!answer.startsWith("OK ")) throw new BusError("broken");
  inbox.write(`BEGIN${LINE_END}`);
}

async function ask(inbox: Inbox, call: BusCall, serial: number): Promise<BusMessage["body"]> {
  inbox.write(encodeCall(call, serial));
  for (;;) {
    const message = await inbox.next(takeMessage);
    if (message.replySerial !== serial) continue; // signals, such as that we got a name
    if (message.type === REPLY) return message.body;
    if (message.type === ERROR) throw new BusError("error", message.errorName);
  }
}

/** Reads one item from the start of the bytes; undefined while it is incomplete. */
type Take<T> = (bytes: Buffer) => { value: T; length: number } | undefined;

const takeLine: Take<string> = (bytes) => {
  const end = bytes.indexOf(LINE_END);
  if (end < 0 && bytes.length > MAX_LINE_BYTES) throw new RangeError("a line that is too long");
  return end < 0
    ? undefined
    : { value: bytes.toString("latin1", 0, end), length: end + LINE_END.length };
};

const takeMessage: Take<BusMessage> = (bytes) => {
  const decoded = decodeMessage(bytes);
  return decoded && { value: decoded.message, length: decoded.length };
};

/** The bytes that came and were not read yet. One reader at a time. */
class Inbox {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  #bytes: Buffer = Buffer.alloc(0);
  #failure: BusError | undefined;
  #isConnected = false;
  #wake = () => {};

  constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    socket.on("connect", () => {
      this.#isConnected = true;
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
    socket.on("error", () => this.#fail(this.#isConnected ? "broken" : "refused"));
    socket.on("close", () => this.#fail("broken"));
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(data);
  }

  close(): void {
    this.#socket.destroy();
  }

  connected(): Promise<true> {
    return this.#until(() => (this.#isConnected ? true : undefined));
  }

  next<T>(take: Take<T>): Promise<T> {
    return this.#until(() => {
      const taken = this.#read(take);
      if (taken) this.#bytes = this.#bytes.subarray(taken.length);
      return taken?.value;
    });
  }

  /** Runs `work`, which fails when it takes too long. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#fail("silent"), this.#timeoutMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #read<T>(take: Take<T>): { value: T; length: number } | undefined {
    try {
      return take(this.#bytes);
    } catch {
      throw new BusError("broken");
    }
  }

  #fail(reason: BusError["reason"]): void {
    this.#failure ??= new BusError(reason);
    this.#wake();
  }
}

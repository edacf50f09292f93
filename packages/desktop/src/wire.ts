/**
 * The messages between a window and a host, the same as lines, as objects through a port, and over the channels of a shell.
 *   W1  A call has an id that its caller chose; its answer has the same.
 *   W2  Whatever a message carries beyond its members is ignored.
 */
import type { Channel, Json, JsonObject } from "@millrace/contracts";
import type { CommandProblem } from "./command-error.ts";

/** From the window: calls, subscriptions, and their ends. */
export type WindowMessage =
  | { readonly id: number; readonly command: string; readonly args: JsonObject }
  | {
      readonly listen: string;
      readonly id: number;
      readonly runId?: string;
      readonly after?: number;
      /** Messages that may be under way before the window says `taken`; absent: as many as there are. */
      readonly window?: number;
    }
  | { readonly unlisten: number }
  | { readonly cancel: number }
  /** Of the messages of subscription `taken`, another `count` have been handled. */
  | { readonly taken: number; readonly count: number };

/** From the host: answers, and events of the subscription `id`. */
export type HostMessage =
  | { readonly id: number; readonly ok: true; readonly result: Json }
  | { readonly id?: number; readonly ok: false; readonly problem: CommandProblem }
  | { readonly channel: Channel; readonly id: number; readonly payload: unknown };

/** Two ends that hand messages to each other, in order. */
export interface Wire<Out, In> {
  /** Hands over a message; after the end it does nothing. A promise: the other side does not keep up, and resolves when it does. */
  send(message: Out): void | Promise<void>;
  /** Gives every message to come; called once. What arrived before is given at once. */
  receive(handler: (message: In) => void): void;
  /** Called once when nothing comes any more, also after `close`. */
  onEnd(handler: () => void): void;
  close(): void;
}

/** The window's end. What it receives is not trusted to be of the form. */
export type WindowWire = Wire<WindowMessage, unknown>;
/** The host's end. */
export type HostWire = Wire<HostMessage, unknown>;

/** An id, a position or a number of messages. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** What callers in TypeScript see of the client and of ports, with the side that must not compile. */
import type { MessagePort as NodePort } from "node:worker_threads";
import type { Client } from "@millrace/client";
import { type AnyEvent, type ExecutionEvent, isKnownEvent, type Run } from "@millrace/contracts";
import { type Transport, type TypedTransport, typed } from "@millrace/desktop";
import type { PortLike } from "@millrace/desktop/port";
import { expect, expectTypeOf, test } from "vitest";

test("events of a client narrow by their kind", () => {
  const read = async (client: Client): Promise<void> => {
    for await (const event of client.runFlow({ dsl: "" })) {
      if (event.kind === "node.failed") expectTypeOf(event.error.code).toBeString();
      if (event.kind === "summary") expectTypeOf(event.outputs).toBeObject();
      // @ts-expect-error no event has such a kind
      if (event.kind === "node.exploded") return;
    }
  };
  expectTypeOf(read).toBeFunction();
});

test("an event of a newer server is told apart", () => {
  const event = { v: 1, kind: "node.dreamt", runId: "r", seq: 1, ts: 0 } as unknown as AnyEvent;
  expect(isKnownEvent(event)).toBe(false);
  expect(isKnownEvent({ ...event, kind: "log" } as AnyEvent)).toBe(true);
  if (isKnownEvent(event)) expectTypeOf(event).toEqualTypeOf<ExecutionEvent>();
});

test("ports of Node and of browsers fit, and what cannot listen does not", () => {
  expectTypeOf<NodePort>().toExtend<PortLike>();
  expectTypeOf<DomPort>().toExtend<PortLike>();
  expectTypeOf<Omit<DomPort, "addEventListener">>().not.toExtend<PortLike>();
});

test("a typed transport has the types of the table of commands", async () => {
  const transport = { invoke: async (command: string) => command } as unknown as Transport;
  expect(await transport.invoke("get_meta", {})).toBe("get_meta");
  expect(typed(transport)).toBe(transport);
  const use = async ({ invoke, listen }: TypedTransport): Promise<void> => {
    expectTypeOf(await invoke("get_run", { runId: "r" })).toEqualTypeOf<Run>();
    // @ts-expect-error there is no such command
    await invoke("get_rum", { runId: "r" });
    // @ts-expect-error the id of the run is missing
    await invoke("get_run", {});
    expectTypeOf(listen).toEqualTypeOf<Transport["listen"]>();
  };
  expectTypeOf(use).toBeFunction();
});

/** As lib.dom.d.ts has it. */
interface DomPort {
  postMessage(message: unknown, transfer: object[]): void;
  postMessage(message: unknown, options?: { transfer?: object[] }): void;
  start(): void;
  close(): void;
  addEventListener<K extends "message" | "messageerror">(
    type: K,
    listener: (
      this: DomPort,
      event: { readonly data: unknown; readonly origin: string },
    ) => unknown,
    options?: boolean | { once?: boolean },
  ): void;
  addEventListener(
    type: string,
    listener: ((event: object) => void) | { handleEvent(event: object): void },
    options?: boolean | { once?: boolean },
  ): void;
}

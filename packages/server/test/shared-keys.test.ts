/** Idempotency keys at several servers: what one of them is at work on no other one does. */
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { oncePerKey } from "../src/dispatch/idempotency.ts";

const CALL = { tokenId: null, command: "put", key: "k", args: { a: 1 }, joins: false } as const;

describeWith("postgres")("a keyed command", () => {
  test("is done by one of two servers, whose answer both give; by another one when the first is dead", async () => {
    const { url } = await sharedPostgres();
    const clock = { now: Date.now() };
    const parts = {
      ...{ url, schema: `shared_keys_${process.pid}`, connections: 4 },
      ...{ key: new Uint8Array(32).fill(3), now: () => clock.now },
    };
    const open = async () => {
      const store = await openPostgresStore(parts);
      onTestFinished(() => store.close());
      return { store, now: parts.now };
    };
    const [one, other] = [await open(), await open()];
    let end: (value: string) => void = () => {};
    let began: () => void = () => {};
    const begun = new Promise<void>((done) => {
      began = done;
    });
    const first = oncePerKey(one, CALL, () => {
      began();
      return new Promise<string>((done) => {
        end = done;
      });
    });
    await begun;
    const never = () => Promise.reject(new Error("it is done twice"));
    await expect(oncePerKey(other, CALL, never)).rejects.toMatchObject({
      code: "idempotency_in_flight",
    });
    end("one");
    expect(await first).toEqual({ value: "one", replayed: false });
    expect(await oncePerKey(other, CALL, never)).toEqual({ value: "one", replayed: true });

    const dead = { scope: "\nput", key: "d", fingerprint: new Uint8Array(32) };
    await one.store.idempotency.begin(dead);
    const seen = await other.store.idempotency.begin(dead);
    expect(seen).toEqual({ state: "working", since: clock.now });
    clock.now += 120_000;
    const takers = [one, other].map(({ store }) =>
      store.idempotency.takeOver(dead, clock.now - 120_000),
    );
    expect((await Promise.all(takers)).sort()).toEqual([false, true]);
  });
});

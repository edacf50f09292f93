/** How often the page asks for a server that does not answer. */
import { expect, onTestFinished, test, vi } from "vitest";
import { backend, connection } from "../../src/page/backend.ts";

test("a probe that ends after the next loss does not double the probes", async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const probes: ((error: Error) => void)[] = [];
  let isHere = false;
  vi.stubGlobal("fetch", (address: string) => {
    if (address.endsWith("/api/health")) return new Promise((_, fail) => probes.push(fail));
    return isHere
      ? Promise.resolve(Response.json({ ok: true }))
      : Promise.reject(new Error("lost"));
  });
  const ask = () => backend.invoke("get_meta", {}).catch(() => {});
  await ask();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(probes).toHaveLength(1);
  isHere = true;
  await ask();
  expect(connection.value).toBe("Connected");
  isHere = false;
  await ask();
  probes[0]?.(new Error("late"));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(probes).toHaveLength(2);
});

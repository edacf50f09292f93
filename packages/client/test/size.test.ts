import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

test("a page pays at most 7 kB for a client, compressed", async () => {
  const code = 'export { createClient, ClientError } from "@millrace/client";';
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(7_000); // 6 kB for commands and runs; `feed`, `modelEvents` and tags for the rest
});

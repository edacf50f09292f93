import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

test("a page pays at most 7.04 kB for a client, compressed", async () => {
  const code = 'export { createClient, ClientError } from "@millrace/client";';
  expect(await gzipBytes(code, import.meta.url)).toBeLessThanOrEqual(7_040); // 40 B tell a gateway's 429 and a full store; 6 kB for commands and runs; `feed`, `modelEvents` and tags for the rest
});

import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

const CORE = 'export { compileFlow, createEngine, createRegistry } from "@millrace/engine";';
const BESIDE = ["@millrace/contracts", "@millrace/dsl", "zod"];

test("compiling and running cost at most 52.65 kB beside language and contracts, compressed", async () => {
  // The goal is 45 kB. 0.2 kB are the steps that the fast lane writes out: a chain takes three quarters of the time.
  // 0.2 kB are literals of events: a run that waits holds less.
  // 0.05 kB show others a value without the credentials of an engine, and the fields of a node one by one.
  expect(await gzipBytes(CORE, import.meta.url, BESIDE)).toBeLessThanOrEqual(52_650);
});

test("a program that compiles and runs flows has at most 160.1 kB of us, and neither models nor zod", async () => {
  // 0.2 kB hide a secret input in the other inputs, too.
  expect(await gzipBytes(CORE, import.meta.url)).toBeLessThanOrEqual(160_100);
});

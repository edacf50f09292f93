/** One suite for the six transports: four in this process, a server on a port, and the shipped command as a child. */
import {
  DELTAS,
  type TransportSubject,
  transportConformance,
} from "@millrace/test-support/transports";
import { afterAll, describe, test } from "vitest";
import * as subjects from "./support/subjects.ts";

// The law of many deltas is about merging, which is one code for all wires: of most it is kept without a wire and over a port.
const [local, small] = await Promise.all([
  subjects.openLocalHost(DELTAS),
  subjects.openLocalHost(subjects.FEWER),
]);
const folder = await subjects.recordedFolder();
afterAll(async () => {
  await Promise.all([local.close(), small.close()]);
  folder.remove();
});

describe.each([
  ["in-process", subjects.inProcess, local],
  ["message port", subjects.messagePort, local],
  ["electron", subjects.electron, small],
  ["tauri", subjects.tauri, small],
] as const)("%s", (_, subject, host) => {
  for (const { name, run } of transportConformance(subject(host))) test(name, run);
});

// One after the other: they share a data folder, which one process has at a time. Each begins with its first case.
describe("http", () => {
  let subject: Promise<TransportSubject> | undefined;
  const open = () => (subject ??= subjects.http(folder.dir));
  for (const { name, run } of transportConformance(subjects.later(open))) test(name, run);
});

describe("stdio", () => {
  let subject: TransportSubject | undefined;
  const open = async () => (subject ??= subjects.stdio(folder.dir));
  for (const { name, run } of transportConformance(subjects.later(open))) test(name, run);
});

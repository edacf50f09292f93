/** One suite for the six transports: four in this process, a server on a port, and the shipped command as a child. */
import { type TransportSubject, transportConformance } from "@millrace/testkit";
import { afterAll, describe, test } from "vitest";
import * as subjects from "./support/subjects.ts";

const local = await subjects.openLocalHost();
const folder = await subjects.recordedFolder();
afterAll(async () => {
  await local.close();
  folder.remove();
});

describe.each([
  ["in-process", subjects.inProcess],
  ["message port", subjects.messagePort],
  ["electron", subjects.electron],
  ["tauri", subjects.tauri],
] as const)("%s", (_, subject) => {
  for (const { name, run } of transportConformance(subject(local))) test(name, run);
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

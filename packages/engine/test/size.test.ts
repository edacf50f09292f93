import { gzipBytes } from "@millrace/test-support/bundle";
import { expect, test } from "vitest";

const CORE = 'export { compileFlow, createEngine, createRegistry } from "@millrace/engine";';
const BESIDE = ["@millrace/contracts", "@millrace/dsl", "zod"];

test("compiling and running cost at most 55.8 kB beside language and contracts, compressed", async () => {
  // The goal is 45 kB. 0.2 kB are the steps that the fast lane writes out: a chain takes three quarters of the time.
  // 0.2 kB are literals of events: a run that waits holds less.
  // 0.05 kB show others a value without the credentials of an engine, and the fields of a node one by one.
  // 0.6 kB leave one run to other processes, and ask a port for keys that processes share.
  // 0.4 kB are variables and secrets of flows.
  // 0.1 kB tell a port of the requests of nodes.
  // 0.4 kB say when a run that waits goes on by itself, for who leaves it meanwhile.
  // 0.1 kB give the lines of a commit one block of memory.
  // 0.05 kB tell the turns of a process apart: runs that go on together stay together.
  // 0.2 kB are numbers written again where each node asks for them, and the members of records that are copied in one walk.
  // 0.2 kB search most texts once for secrets, and keep the timer of the host between two nodes that wait.
  // 0.05 kB tell of what a confirm handler throws.
  // 0.2 kB read the values of policies, so that none is passed over.
  // 0.1 kB look at the clock each minute while a long timer waits. 0.02 kB name the ports of a type.
  // 0.1 kB let the collector take an ended run at once.
  expect(await gzipBytes(CORE, import.meta.url, BESIDE)).toBeLessThanOrEqual(55_800);
});

test("a program that compiles and runs flows has at most 172.2 kB of us, and neither models nor zod", async () => {
  // 0.8 kB are variables and secrets of flows, with where a secret may stand.
  // 0.2 kB hide a secret input in the other inputs, too.
  // 0.2 kB make the events of nodes in the young space, and tell a body to stop without a signal.
  // 0.2 kB name the service that a command connects, and what a misspelt field entails.
  // 0.1 kB let a run that is parked hold half a KiB less, and look at plain records in the order of their schema.
  // 0.4 kB evaluate conditions in half the time.
  // 0.3 kB write edges of several nodes one by one, 0.1 kB leave what is set twice to its author.
  // 0.3 kB tell words apart without comparing them, 0.2 kB end a node in less time.
  // 0.2 kB tell of conditions that decide nothing, 0.3 kB what was meant by a text with missing commas or blocks.
  // 0.1 kB look the words of other tools up when one is met, and evaluate conditions in two thirds of the time.
  // 0.2 kB refuse what is no flow to read, and options that there are not.
  // 0.6 kB name more mistakes of a flow once, with their fix.
  // 0.4 kB know the outputs of flows that are called, units of waits, and loops without a state.
  // 0.2 kB let the collector take an ended run at once.
  // 4.1 kB are functions of expressions: lists, CSV, patterns in linear time, zones and durations.
  expect(await gzipBytes(CORE, import.meta.url)).toBeLessThanOrEqual(172_200);
});

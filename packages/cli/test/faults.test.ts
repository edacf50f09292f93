/** A few of the faults that `bench/durable/inject.js` injects by the thousand: one of each kind. */
import { main } from "@millrace/cli";
import { notFull, testUnless } from "@millrace/test-support";
import { noMount } from "@millrace/test-support/disk";
import { expect } from "vitest";
import { FAULTS, faultOf, injectFaults, mayMount } from "../../../bench/durable/faults.js";
import { BIN, scratch } from "./cli.ts";

const NO_DISK = noMount() ?? (mayMount("/mnt") ? undefined : "no right to mount");
const ON_DISK = FAULTS.filter((fault) => fault.startsWith("full disk"));

/** The first cases of these faults. */
function seedsOf(faults: readonly string[]): number[] {
  return faults.map((fault) => {
    let seed = 1;
    while (faultOf(seed) !== fault) seed += 1;
    return seed;
  });
}

testUnless(notFull)(
  "a run that is disturbed once loses nothing without a word, and resume completes it",
  async () => {
    const faults = FAULTS.filter((fault) => !ON_DISK.includes(fault));
    const given = { folder: scratch(), main, bin: BIN, disk: false };
    const { counts, wrong } = await injectFaults(seedsOf(faults), given);
    expect([wrong, Object.keys(counts).sort()]).toEqual([[], [...faults].sort()]);
  },
);

testUnless(NO_DISK)("a run on a full disk waits for room, and is paused by Ctrl-C", async () => {
  const given = { folder: scratch(), main, bin: BIN, disk: true };
  const { counts, wrong } = await injectFaults(seedsOf(ON_DISK), given);
  expect([wrong, Object.keys(counts).sort()]).toEqual([[], [...ON_DISK].sort()]);
});

/** Progress by a clock that stands still: what is told when. */
import type { EventSink } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { Progress } from "../src/progress.ts";
import { handClock } from "./runner/support.ts";

/** Progress of a download of 100 bytes, and the numbers that it has told. */
function started() {
  const clock = handClock();
  const told: number[] = [];
  const sink: EventSink = {
    emit: (_, payload) => void told.push((payload as { readonly current: number }).current),
  };
  const progress = new Progress({ name: "m", jobId: "job_1" }, sink, clock);
  progress.stage("download", 0, 100);
  return { clock, told, progress };
}

describe("progress", () => {
  test("that stalls has told its last number after a tenth of a second", () => {
    const { clock, told, progress } = started();
    for (const bytes of [10, 20, 30]) progress.advance(bytes);
    clock.advance(99);
    expect(told).toEqual([0]);
    clock.advance(1);
    expect(told).toEqual([0, 30]);
    progress.advance(40);
    clock.advance(60);
    progress.advance(50);
    clock.advance(40);
    expect(told).toEqual([0, 30, 50]);
    clock.advance(1_000);
    progress.advance(60); // nothing was told for long
    expect(told).toEqual([0, 30, 50, 60]);
  });

  test("of a clock that was set back is told all the same", () => {
    const { clock, told, progress } = started();
    clock.advance(-3_600_000);
    progress.advance(10);
    clock.advance(100);
    expect(told).toEqual([0, 10]);
  });

  test("leaves no timer when a stage or the job ends", () => {
    const { clock, told, progress } = started();
    progress.advance(10);
    progress.stage("verify", 0, 100);
    expect(clock.pending).toBe(0);
    progress.advance(20);
    progress.end("done");
    expect(clock.pending).toBe(0);
    clock.advance(1_000);
    expect(told).toEqual([0, 10, 0, 20, 20]);
  });
});

/** Messages from the process of an extension to its host, assigned to their calls. */
import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { LINE_FD, openLine } from "./child/line.ts";
import { type Frame, Peer } from "./child/peer.ts";
import { hostEvent, hostRequest, type OpenCall } from "./host-calls.ts";

const MAX_DROPPED = 100; // unexpected frames; more cannot be a mistake

/**
 * The line to a process that was started, over which it may use the call that it names, while that is open. `ready` resolves
 * when the process listens. Broken framing, or too many unexpected frames, ends the process.
 */
export function lineTo(
  child: ChildProcess,
  calls: ReadonlyMap<number, OpenCall>,
): { peer: Peer; ready: Promise<void> } {
  let isReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let dropped = 0;
  const callOf = (frame: Frame): OpenCall | undefined => calls.get(frame["call"] as number);
  const pipe = child.stdio[LINE_FD] as Duplex;
  const send = openLine(pipe, {
    frame: (frame) => peer.receive(frame),
    broken: () => child.kill("SIGKILL"),
  });
  const peer: Peer = new Peer(send, {
    request(op, frame) {
      const call = callOf(frame);
      const step = (key: string) => peer.request("step", { call: frame["call"], key });
      return call === undefined ? undefined : hostRequest(op, { ...call, step }, frame);
    },
    notify(op, frame) {
      if (op === "ready") {
        isReady();
        return true;
      }
      const call = callOf(frame);
      if (call === undefined) return false;
      try {
        if (op === "event") return hostEvent(call, frame);
        if (op !== "parts" || call.parts === undefined) return false;
        call.parts(frame["parts"] as readonly unknown[]);
        return true;
      } catch {
        return false; // the attempt is over, or what was told is nothing that can be told
      }
    },
    dropped() {
      dropped += 1;
      if (dropped === MAX_DROPPED) child.kill("SIGKILL");
    },
  });
  return { peer, ready };
}

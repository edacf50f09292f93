/** The host of any platform with web globals: no files, no network. `createNodeHost` of the `/node` entry has both. */
import { sha256Hex } from "@millrace/contracts/kit";
import type { Host } from "./host.ts";

const LONGEST_TIMER_MS = 2_147_483_647; // timers of the platform count in 32 bits and fire at once beyond them

declare const setImmediate: ((fn: () => void) => unknown) | undefined;

/** Clock and random of the platform, SHA-256 in JavaScript. */
export function createPortableHost(): Host {
  return {
    now: Date.now,
    random: Math.random,
    setTimer(fn, ms) {
      const id = setTimeout(fn, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      return () => clearTimeout(id);
    },
    yield: macrotask(),
    sha256: sha256Hex,
  };
}

/** Hands over to timers and sockets without the 1 ms that `setTimeout(0)` costs. */
function macrotask(): (fn: () => void) => void {
  if (typeof setImmediate === "function") {
    const immediate = setImmediate;
    return (fn) => void immediate(fn);
  }
  return (fn) => {
    const channel = new MessageChannel();
    const answered = () => {
      channel.port1.close();
      fn();
    };
    channel.port1.addEventListener("message", answered, { once: true });
    channel.port1.start();
    channel.port2.postMessage(null);
  };
}

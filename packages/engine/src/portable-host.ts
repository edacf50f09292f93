/** The host of any platform with web globals: no files, no network. `createNodeHost` of the `/node` entry has both. */
import { sha256Hex } from "@millrace/contracts/kit";
import type { Host } from "./host.ts";

/**
 * Longest timer of the platform that is used. It does not notice that the clock was set or that the machine slept, and one of more than
 * 2^31 - 1 ms fires immediately.
 */
const LOOK_MS = 60_000;

declare const setImmediate: ((fn: () => void) => unknown) | undefined;

/** Clock and random of the platform, SHA-256 in JavaScript. */
export function createPortableHost(): Host {
  return {
    now: Date.now,
    random: Math.random,
    setTimer: (fn, ms) => (ms > LOOK_MS ? setLongTimer(fn, ms) : setShortTimer(fn, ms)),
    yield: macrotask(),
    sha256: sha256Hex,
  };
}

function setShortTimer(fn: () => void, ms: number): () => void {
  const id = setTimeout(fn, Math.max(0, ms));
  return () => clearTimeout(id);
}

/** Fires when the time has passed, or the clock has reached its end: within a minute after the clock was set or the machine slept. */
function setLongTimer(fn: () => void, ms: number): () => void {
  const end = { passed: performance.now() + ms, wall: Date.now() + ms };
  let cancel: () => void;
  const look = (): void => {
    const left = Math.min(end.passed - performance.now(), end.wall - Date.now());
    cancel = setShortTimer(left > 0 ? look : fn, Math.min(left, LOOK_MS));
  };
  look();
  return () => cancel();
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

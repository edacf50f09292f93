/**
 * Machines of one network on this one: each place is a network namespace with an address of its own, and what lies between any two can
 * be cut. A cut is silent, as that of a cable: nothing arrives, and nobody is told. It needs root.
 */
import { execFileSync } from "node:child_process";
import { networkInterfaces } from "node:os";
import { fileOf, machinePath } from "./programs.js";

/** A network, which the caller closes. The process of the test is in it too, at a place of its own that is never cut. */
export interface TestNetwork {
  /** The address of a place. */
  addressOf(place: string): string;
  /** The command line that runs these words at a place. */
  within(place: string, words: readonly string[]): readonly string[];
  /** From now on nothing arrives between the two. */
  cut(one: string, other: string): void;
  mend(one: string, other: string): void;
  close(): void;
}

const NOBODY = "02:00:00:00:00:01"; // frames to it go to nobody
let made = 0;

/** Makes a network of these places. For tests that say `describeUnless(noNetworks())`. */
export function makeNetwork(places: readonly string[]): TestNetwork {
  const id = `mr${process.pid}${made === 0 ? "" : `x${made}`}`;
  made += 1;
  const subnet = `10.77.${process.pid % 256}`;
  const spaceOf = (place: string): string => `${id}-${place}`;
  const addressOf = (place: string): string => `${subnet}.${places.indexOf(place) + 2}`;
  const close = (): void => {
    process.off("exit", close);
    for (const place of places) attempt("netns", "del", spaceOf(place));
    attempt("link", "del", id);
  };
  process.once("exit", close);
  ip("link", "add", id, "type", "bridge");
  ip("address", "add", `${subnet}.1/24`, "dev", id);
  ip("link", "set", id, "up");
  for (const [at, place] of places.entries()) {
    const end = `${id}p${at}`;
    ip("netns", "add", spaceOf(place));
    ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", spaceOf(place));
    ip("link", "set", end, "master", id, "up");
    ip("-n", spaceOf(place), "address", "add", `${addressOf(place)}/24`, "dev", "eth0");
    ip("-n", spaceOf(place), "link", "set", "eth0", "up");
    ip("-n", spaceOf(place), "link", "set", "lo", "up");
  }
  /** Both directions. */
  const between = (one: string, other: string, work: (at: string, to: string) => void): void => {
    work(spaceOf(one), addressOf(other));
    work(spaceOf(other), addressOf(one));
  };
  return {
    addressOf,
    close,
    within: (place, words) => [fileOf("ip") ?? "ip", "netns", "exec", spaceOf(place), ...words],
    cut: (one, other) =>
      between(one, other, (at, to) => {
        const neighbour = ["replace", to, "lladdr", NOBODY, "dev", "eth0", "nud", "permanent"];
        ip("-n", at, "neighbour", ...neighbour);
      }),
    mend: (one, other) =>
      between(one, other, (at, to) => void ip("-n", at, "neighbour", "del", to, "dev", "eth0")),
  };
}

/**
 * Why no networks can be made here; undefined where they can. Not beside the network of the machine: a browser gives up what it
 * loads when one comes or goes.
 */
export function noNetworks(): string | undefined {
  if (process.platform !== "linux" || fileOf("ip") === undefined) return "no ip";
  if (Object.keys(networkInterfaces()).some((name) => name !== "lo")) return "no unshare --net";
  try {
    makeNetwork(["a"]).close();
    return undefined;
  } catch {
    return "no right to make network namespaces";
  }
}

function ip(...words: readonly string[]): void {
  execFileSync(fileOf("ip") ?? "ip", words, {
    stdio: "ignore",
    env: { ...process.env, PATH: machinePath() },
  });
}

function attempt(...words: readonly string[]): void {
  try {
    ip(...words);
  } catch {
    // it was not made
  }
}

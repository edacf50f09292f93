/**
 * What the engine needs from the machine it runs on. Everything is injected: the core never reaches for a clock, a
 * socket, a file or a program. An absent member fails the node that wants it with `host_unsupported`.
 */
import type { FetchLike, FilePort, SpawnPort } from "@millrace/contracts";

/** Clock, randomness, hashing and the capabilities of one machine. */
export interface Host {
  /** Epoch milliseconds. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Calls `fn` once after `ms`; the answer cancels it. */
  setTimer(fn: () => void, ms: number): () => void;
  /** Calls `fn` in a later macrotask, so that timers and sockets get their turn. */
  yield(fn: () => void): void;
  /** Lower-case hex. */
  sha256(bytes: Uint8Array): string;
  /** An egress client under this policy. */
  openFetch?(policy: EgressPolicy): FetchLike;
  /** Files below `policy.root`. */
  openFiles?(policy: FilePolicy): FilePort;
  /** Programs of `policy.programs`. */
  openSpawn?(policy: ShellPolicy): ProgramsPort;
}

/** Programs that an engine starts. */
export interface ProgramsPort extends SpawnPort {
  /** Ends the programs that are left; resolves when they are gone. */
  close?(): Promise<void>;
}

/** An address range, or a host with the addresses it resolves to. */
export type EgressRule =
  | { readonly cidr: string }
  | { readonly host: string; readonly port?: number };

/** Network targets that a flow may reach. Private addresses are denied unless allowed; `deny` wins. */
export interface EgressPolicy {
  readonly allow?: readonly EgressRule[];
  readonly deny?: readonly EgressRule[];
  /** Hosts, as `name`, `*.name` or `name:port`, that may be reached at all; absent: every one. What is private needs `allow`, too. */
  readonly only?: readonly string[];
  /** Origins of this very server, always denied. */
  readonly selfOrigins?: readonly string[];
  /** Default 5. */
  readonly maxRedirects?: number;
  /** Default 10,000. */
  readonly connectMs?: number;
  /** Longest silence of an answer; default 30,000. */
  readonly idleMs?: number;
  /** Default 300,000. */
  readonly totalMs?: number;
  /** Decoded bytes; default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Default 10 MiB. */
  readonly maxRequestBytes?: number;
  /** Sockets at once to one host; default 16. */
  readonly perHost?: number;
}

/** Which files a flow may touch. */
export interface FilePolicy {
  /** Absolute folder; every path of a flow is relative to it. */
  readonly root: string;
  readonly readOnly?: boolean;
  /** Largest file written, or read at once; a larger one is read by ranges. Default 16 MiB. */
  readonly maxBytes?: number;
}

/** Programs that a flow may start. Their arguments come from the flow and are not checked: allow programs, not shells. */
export interface ShellPolicy {
  /** Name in flows to absolute path: `{ git: "/usr/bin/git" }`. */
  readonly programs: { readonly [name: string]: string };
  /** Variables of this process that programs get; default none, not even `PATH`. */
  readonly env?: readonly string[];
  /** Absolute folder in which programs run, and below which a flow may choose one; default the folder of this process. */
  readonly cwdRoot?: string;
}

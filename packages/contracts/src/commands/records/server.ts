/** Settings, hubs, schedules, webhooks, meta: what a server keeps besides runs and templates. */
import type { Digest } from "../../events/shapes.ts";
import type { FlowSchedule } from "../../graph.ts";
import type { Json, JsonSchema } from "../../json.ts";
import type { Page, Tags } from "./run.ts";

/** Settings that a command may change. What widens a sandbox is operator configuration and is not here. */
export interface Settings {
  /** Defaults of runs whose request and flow say nothing. */
  readonly run: {
    /** Null: the server's limit. */
    readonly timeoutMs: number | null;
    readonly onFailure: "stop" | "finish";
    /** Nodes at once in one run. */
    readonly concurrency: number;
    readonly confirm: "ask" | "approve" | "reject";
  };
  readonly retention: {
    /** Journals of ended runs: days, number of runs, bytes in all; whichever is reached first. */
    readonly journalDays: number;
    readonly journalRuns: number;
    readonly journalBytes: number;
    /** Rows and summaries of runs, in days. */
    readonly runDays: number;
    readonly feedDays: number;
    readonly fireDays: number;
  };
  readonly ai: {
    readonly defaultProvider: string | null;
    /** Provider id to model id. */
    readonly defaultModels: { readonly [provider: string]: string };
    /** False treats every `ai` node as `auditContent: none` once its run has ended. */
    readonly keepContent: boolean;
    readonly circuit: {
      readonly failures: number;
      readonly windowMs: number;
      readonly coolDownMs: number;
    };
  };
}

/** What a hub offers. */
export type HubProvides = "templates" | "nodes" | "models";

/** A digest-pinned source of templates, node packs and models. */
export interface Hub {
  readonly id: string;
  readonly name: string;
  readonly kind: "https" | "dir";
  readonly url: string;
  readonly provides: readonly HubProvides[];
  readonly enabled: boolean;
  readonly publicKey?: string;
  readonly syncedAt?: string;
  /** Serial number of the stored index; it never falls. */
  readonly serial?: number;
}

/** One item of a hub's index. */
export interface HubItem {
  readonly id: string;
  readonly kind: "template" | "nodes" | "model";
  readonly version: string;
  readonly digest: Digest;
  readonly bytes: number;
  /** Below the hub. */
  readonly path: string;
  readonly title: string;
}

/** The file `millrace-hub.json` of a hub. */
export interface HubIndex {
  readonly millraceHub: 1;
  readonly name: string;
  /** Rises with every change; an index with a lower one is refused. */
  readonly serial: number;
  readonly items: readonly HubItem[];
}

/** What `create_schedule` and `update_schedule` take: exactly one of `cron`, `everyMs` and `at`. */
export interface ScheduleArgs {
  readonly template: string;
  /** Name of the schedule in the flow that proposes it; absent: no flow proposes it. */
  readonly name?: string;
  readonly version?: number;
  /** Five or six fields. */
  readonly cron?: string;
  /** At least 1,000, anchored at creation. */
  readonly everyMs?: number;
  /** ISO 8601 with a zone; fires once. */
  readonly at?: string;
  /** IANA name; default `UTC`. */
  readonly timezone?: string;
  readonly inputs?: { readonly [name: string]: Json };
  readonly tags?: Tags;
  readonly enabled?: boolean;
  readonly overlap?: "skip" | "queue" | "allow";
  readonly catchUp?: "skip" | "one" | "all";
}

/** A stored schedule with its next and last fire time. */
export interface Schedule extends ScheduleArgs {
  readonly id: string;
  readonly timezone: string;
  readonly enabled: boolean;
  readonly overlap: "skip" | "queue" | "allow";
  readonly catchUp: "skip" | "one" | "all";
  readonly nextAt: string | null;
  readonly lastFire?: string;
  readonly lastError?: string;
}

/** A schedule that the flow of a template declares and that does not fire: no stored schedule has its name and its times. */
export interface ProposedSchedule {
  readonly template: string;
  readonly schedule: FlowSchedule;
}

/** The answer of `list_schedules`. */
export interface SchedulePage extends Page<Schedule> {
  /** On the first page: those that templates propose, by template. */
  readonly proposed?: readonly ProposedSchedule[];
}

/** What `create_webhook` takes. `input` names the flow input that gets `{method, query, headers, body}`. */
export interface WebhookArgs {
  readonly template: string;
  readonly input: string;
  /** Key of `Millrace-Signature`, 16 to 256 characters; write-only. */
  readonly secret?: string;
  /** Names of further headers to pass on, at most 16. */
  readonly headers?: readonly string[];
  readonly enabled?: boolean;
}

/** A public trigger of one template; its token is shown once, on creation. */
export interface Webhook {
  readonly id: string;
  readonly template: string;
  readonly input: string;
  /** Present when a signature is checked. */
  readonly secret?: true;
  readonly headers: readonly string[];
  readonly enabled: boolean;
}

/** The answer of `create_webhook`, the only one that shows the token of `/hooks/<token>`. */
export interface NewWebhook extends Webhook {
  readonly token: string;
}

/** Versions, limits and features of a server. */
export interface Meta {
  readonly name: "millrace";
  readonly version: string;
  readonly apiVersion: 1;
  readonly eventVersion: 1;
  readonly dslVersion: 1;
  /** Version of the runtime. */
  readonly node: string;
  /** Bytes, milliseconds and numbers by name. */
  readonly limits: { readonly [name: string]: number };
  readonly features: {
    readonly webhooks: boolean;
    readonly models: boolean;
    /** Name of the credential store in use; null: none. */
    readonly credentialStore: string | null;
    readonly executor: "memory" | "sqlite" | "restate";
  };
  /** Names of commands with and without a handler here. */
  readonly commands: { readonly wired: readonly string[]; readonly unwired: readonly string[] };
}

/** A command as a client may learn it. */
export interface CommandInfo {
  readonly name: string;
  readonly wired: boolean;
  readonly effect: "read" | "run" | "write" | "admin";
  readonly argsSchema: JsonSchema;
  readonly resultSchema: JsonSchema;
}

/** A store: every table of it, over whichever database. */

import type { KeyPort } from "@millrace/contracts";
import { createJournal, type StoreJournal } from "./journal/journal.ts";
import { PrivateValues } from "./journal/private-values.ts";
import type { KeepsContent } from "./journal/seal.ts";
import {
  createRetention,
  type RetentionLimits,
  type RetentionReport,
} from "./retention/retention.ts";
import { type Bells, createBells } from "./runs/bells.ts";
import { type Confirmations, createConfirmations } from "./runs/confirmations.ts";
import { type Cursors, createCursors } from "./runs/cursor.ts";
import { createFeed, type Feed } from "./runs/feed.ts";
import { createInbox, type Inbox } from "./runs/inbox.ts";
import { createKeyClaims } from "./runs/key-claims.ts";
import { createRuns, type Runs } from "./runs/runs.ts";
import type { Condition, Database } from "./sql/port.ts";
import { type Connections, createConnections } from "./tables/connections.ts";
import { createSharedCredentials, type SharedCredentials } from "./tables/credentials.ts";
import { createHubs, type Hubs } from "./tables/hubs.ts";
import { createIdempotency, type Idempotency } from "./tables/idempotency.ts";
import { createOutbox, type Outbox } from "./tables/outbox.ts";
import { createSchedules, type Schedules } from "./tables/schedules.ts";
import { createSettings, type SettingsTable } from "./tables/settings.ts";
import { createTemplates, type Templates } from "./tables/templates.ts";
import { createVars, type Vars } from "./tables/vars.ts";
import { createWebhooks, type Webhooks } from "./tables/webhooks.ts";

/** The tables of a store besides runs. */
export interface Tables {
  readonly connections: Connections;
  readonly hubs: Hubs;
  readonly idempotency: Idempotency;
  readonly outbox: Outbox;
  readonly schedules: Schedules;
  readonly settings: SettingsTable;
  readonly templates: Templates;
  /** Variables that flows read as `vars`. */
  readonly vars: Vars;
  readonly webhooks: Webhooks;
}

/** An open store. Its reads are asynchronous, whichever database is behind it. */
export interface Store extends Tables {
  /** `memory`: gone with its process. `sqlite`: for processes of one machine. `postgres`: servers share it. */
  readonly kind: Database["kind"];
  /** The log of every run. `create` takes the rows that begin with a run. */
  readonly journal: StoreJournal;
  readonly runs: Runs;
  readonly confirmations: Confirmations;
  /** Requests to runs that another process drives; absent where this process is alone, or only reads. */
  readonly inbox?: Inbox;
  readonly feed: Feed;
  /** Signs positions in lists; its key is that of the store, so that cursors outlive a process. */
  readonly cursors: Cursors;
  /**
   * `ok`; `store_full`: the disk is full, writes wait until there is room; `store_read_only` and `store_unavailable`: nothing
   * is written any more, and the process should end and start again.
   */
  readonly condition: Condition;
  /** Resolves when nothing is written any more, before `close` was asked for: with `condition`. */
  readonly lost: Promise<Condition>;
  /**
   * Deletes rows older than `limits`, by default those of `RETENTION`, and frees their space. The log of an ended run goes
   * first and leaves a `snapshot` and its `summary`; live runs and templates stay. Concurrent calls share one pass.
   */
  retain(limits?: Partial<RetentionLimits>): Promise<RetentionReport>;
  /**
   * Writes one consistent copy of the database to `path`, without the key of the private values. Throws `path_exists` when
   * there is something already.
   */
  backup(path: string): Promise<void>;
  /** Writes the address of this process to `owner.json`, where it is the server of its folder. */
  announce(url: string): void;
  /** Writes the queue, marks the end as clean, and gives the folder back. Idempotent. */
  close(): Promise<void>;
  /** `close()`, for `await using store = await openStore(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A store that servers share, with what they tell each other. */
export interface SharedStore extends Store {
  readonly kind: "postgres";
  readonly bells: Bells;
  readonly inbox: Inbox;
  /** Credentials of services, for all servers. */
  readonly credentials: SharedCredentials;
  /** Keys of concurrency, for the engines of all servers. */
  readonly keys: KeyPort;
  /** Time by the clock of the database, epoch milliseconds. */
  now(): number;
}

/** Whether servers share it. */
export function isShared(store: Store): store is SharedStore {
  return store.kind === "postgres";
}

/** Options of a store besides its database. */
export interface StoreParts {
  /** Asked when a run ends: false withholds what models said in it, as `auditContent: "none"` does. Default: true. */
  readonly keepsContent?: KeepsContent | undefined;
}

/** The store over a database that processes share: its tables have what those of `Inbox` and `Bells` need. */
export function sharedStoreOver(db: Database, parts: StoreParts = {}): SharedStore {
  const store = storeOver(db, parts);
  return Object.assign(store, {
    kind: "postgres" as const,
    bells: createBells(db),
    inbox: store.inbox as Inbox,
    credentials: createSharedCredentials(db),
    keys: createKeyClaims(db),
    now: () => db.now(),
  });
}

/** The store over an open database, which belongs to it from then on: `close` closes both. */
export function storeOver(db: Database, { keepsContent }: StoreParts = {}): Store {
  const cursors = createCursors(Buffer.from(db.cursorKey, "hex"));
  const feed = createFeed(db);
  const privates = new PrivateValues(db, db.key);
  const settings = createSettings(db);
  const close = (): Promise<void> => db.close();
  return {
    journal: createJournal({ db, privates, keepsContent, publish: (kinds) => feed.publish(kinds) }),
    feed,
    cursors,
    runs: createRuns({ db, cursors, privates }),
    confirmations: createConfirmations(db, cursors),
    retain: createRetention(db),
    connections: createConnections(db),
    hubs: createHubs(db),
    idempotency: createIdempotency(db),
    outbox: createOutbox(db),
    schedules: createSchedules(db),
    settings,
    templates: createTemplates(db),
    vars: createVars(settings),
    webhooks: createWebhooks(db),
    ...(db.holder !== null && { inbox: createInbox(db) }),
    kind: db.kind,
    get condition() {
      return db.condition;
    },
    lost: db.lost,
    announce: (url) => db.announce(url),
    backup: (path) => db.backup(path),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The tables, as numbered migrations that are never edited once released. They are those of SQLite (`packages/store/src/sqlite/schema.ts`,
 * its newest version) with the same columns, and what several servers need besides; only here `run.last_seq` keeps the end of a log, so
 * that an append locks the row of its run. Times are epoch milliseconds, JSON is text. Text is compared by its bytes, whatever the
 * language of the database.
 */
import { REFUSED } from "../connect/faults.ts";
import { SERVER_LOCKS, STALE_MS } from "./names.ts";

const FIRST = `
CREATE FUNCTION need(changed bigint, refusal text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF changed = 0 THEN RAISE EXCEPTION USING ERRCODE = '${REFUSED}', MESSAGE = refusal; END IF;
  RETURN changed;
END $$;
CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE SEQUENCE epoch;
CREATE SEQUENCE run_no INCREMENT BY 64;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE server(id TEXT PRIMARY KEY, lock integer NOT NULL, heartbeat INTEGER NOT NULL, started_at INTEGER NOT NULL,
  host TEXT NOT NULL, url TEXT);
CREATE TABLE graph(digest TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE run(no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, flow_id TEXT NOT NULL,
  graph TEXT NOT NULL REFERENCES graph(digest), template TEXT, template_version INTEGER, status TEXT NOT NULL,
  trigger TEXT NOT NULL, source TEXT, inputs TEXT NOT NULL, options TEXT NOT NULL, token_id TEXT, retry_of TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0, epoch INTEGER NOT NULL, lease_until INTEGER, owner TEXT, holder TEXT,
  created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, summary TEXT, pruned INTEGER NOT NULL DEFAULT 0,
  bell_at INTEGER) WITH (fillfactor = 80);
CREATE INDEX run_by_time ON run(created_at DESC, no DESC);
CREATE INDEX run_by_status ON run(status, created_at DESC);
CREATE INDEX run_by_template ON run(template, created_at DESC) WHERE template IS NOT NULL;
CREATE INDEX run_by_trigger ON run(trigger, created_at DESC);
CREATE INDEX run_by_graph ON run(graph);
CREATE INDEX run_live ON run(no) WHERE ended_at IS NULL;
CREATE INDEX run_kept ON run(ended_at) WHERE ended_at IS NOT NULL AND pruned <> 1;
CREATE INDEX run_pruned ON run(ended_at) WHERE pruned = 1;
CREATE INDEX run_bell ON run(bell_at) WHERE bell_at IS NOT NULL;
CREATE TABLE run_tag(key TEXT, value TEXT, run INTEGER REFERENCES run(no) ON DELETE CASCADE, PRIMARY KEY(key, value, run));
CREATE INDEX run_tag_of ON run_tag(run);
CREATE TABLE journal(run INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, ts INTEGER NOT NULL, line BLOB NOT NULL,
  PRIMARY KEY(run, seq));
CREATE TABLE step_value(run INTEGER, key TEXT, ref TEXT NOT NULL, value TEXT, PRIMARY KEY(run, key));
CREATE TABLE private_value(run INTEGER, node TEXT, attempt INTEGER, nonce BLOB, body BLOB, PRIMARY KEY(run, node, attempt));
CREATE TABLE blob(digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, media_type TEXT, body BLOB NOT NULL);
CREATE TABLE run_blob(run INTEGER, digest TEXT REFERENCES blob(digest), PRIMARY KEY(run, digest));
CREATE INDEX run_blob_of ON run_blob(digest);
CREATE TABLE confirmation(run INTEGER, id TEXT, node TEXT, status TEXT NOT NULL, prompt TEXT NOT NULL, schema TEXT, tool TEXT,
  deadline INTEGER, by TEXT, value TEXT, comment TEXT, requested_at INTEGER, resolved_at INTEGER, PRIMARY KEY(run, id));
CREATE INDEX confirmation_open ON confirmation(status, requested_at) WHERE status = 'requested';
CREATE TABLE timer(run INTEGER, node TEXT, attempt INTEGER, fire_at INTEGER NOT NULL, PRIMARY KEY(run, node, attempt));
CREATE INDEX timer_due ON timer(fire_at);
CREATE TABLE feed(pos INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL);
CREATE INDEX feed_of ON feed(run);
CREATE TABLE feed_head(pos INTEGER NOT NULL) WITH (fillfactor = 10);
INSERT INTO feed_head VALUES(0);
CREATE TABLE template(slug TEXT PRIMARY KEY, version INTEGER NOT NULL, name TEXT, description TEXT, tags TEXT, source TEXT,
  updated_at INTEGER);
CREATE TABLE template_version(slug TEXT, version INTEGER, digest TEXT, text TEXT NOT NULL, graph TEXT REFERENCES graph(digest),
  created_at INTEGER, PRIMARY KEY(slug, version));
CREATE INDEX template_version_of ON template_version(graph);
CREATE TABLE schedule(id TEXT PRIMARY KEY, body TEXT NOT NULL, enabled INTEGER, next_at INTEGER, last_fire INTEGER,
  last_error TEXT);
CREATE INDEX schedule_due ON schedule(next_at) WHERE enabled = 1;
CREATE TABLE schedule_fire(schedule TEXT, fire_time INTEGER, run TEXT, outcome TEXT NOT NULL, PRIMARY KEY(schedule, fire_time));
CREATE INDEX schedule_fire_waiting ON schedule_fire(schedule, fire_time) WHERE outcome = 'queued' AND run IS NULL;
CREATE TABLE idempotency(scope TEXT, key TEXT, fingerprint BLOB NOT NULL, state TEXT NOT NULL, answer TEXT,
  expires_at INTEGER NOT NULL, PRIMARY KEY(scope, key));
CREATE TABLE setting(path TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE hub(id TEXT PRIMARY KEY, body TEXT NOT NULL, serial INTEGER);
CREATE TABLE hub_item(hub TEXT REFERENCES hub(id) ON DELETE CASCADE, item TEXT, body TEXT NOT NULL, PRIMARY KEY(hub, item));
CREATE TABLE webhook(id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
CREATE TABLE webhook_seen(hash TEXT PRIMARY KEY, expires_at INTEGER NOT NULL);
CREATE TABLE connection(slug TEXT PRIMARY KEY, status TEXT NOT NULL, scope TEXT, expires_at INTEGER, body TEXT NOT NULL);

CREATE TABLE inbox(no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
  message TEXT NOT NULL, answer TEXT, created_at INTEGER NOT NULL, answered_at INTEGER);
CREATE INDEX inbox_open ON inbox(run, no) WHERE answer IS NULL;
CREATE INDEX inbox_of ON inbox(run);
CREATE TABLE key_claim(key TEXT, holder TEXT, max INTEGER NOT NULL, granted INTEGER NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY(key, holder));
CREATE INDEX key_claim_of ON key_claim(holder);

CREATE FUNCTION is_at_work(wanted text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT 1 FROM server s WHERE s.id = wanted AND (
      s.heartbeat > clock_ms() - ${STALE_MS}
      OR pg_postmaster_start_time() > clock_timestamp() - interval '${STALE_MS} milliseconds'
      OR EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${SERVER_LOCKS}
        AND l.objid = s.lock::oid AND l.objsubid = 2
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))))
$$;
`;

/** The calls of the dispatcher: a queue, whose rows come and go, so that it is swept often. */
const DISPATCHER = `
CREATE SEQUENCE drive_turn;
CREATE TABLE drive_call(run TEXT PRIMARY KEY, at INTEGER, holder TEXT, turn INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0, left_by TEXT)
  WITH (autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX drive_call_due ON drive_call(at) WHERE holder IS NULL;
CREATE INDEX drive_call_held ON drive_call(holder) WHERE holder IS NOT NULL;
ALTER TABLE server ADD COLUMN serves boolean NOT NULL DEFAULT false;
`;

/** Credentials of all servers, and who changes one of them; bells of runs that have ended are of no use. */
const CREDENTIALS = `
CREATE TABLE credential(account TEXT PRIMARY KEY, nonce BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE lease(name TEXT PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL);
DROP INDEX run_bell;
CREATE INDEX run_bell ON run(bell_at) WHERE bell_at IS NOT NULL AND ended_at IS NULL;
`;

/** Runs that failed from here on, as people are told of them; and messages that are to be sent. */
const FAILURES = `
ALTER TABLE run ADD COLUMN untold INTEGER;
ALTER TABLE run ADD COLUMN unacknowledged INTEGER;
CREATE INDEX run_untold ON run(no) WHERE untold = 1;
CREATE INDEX run_unacknowledged ON run(created_at DESC, no DESC) WHERE unacknowledged = 1;
CREATE TABLE outbox(id TEXT PRIMARY KEY, body TEXT NOT NULL, due_at INTEGER NOT NULL, rev INTEGER NOT NULL);
CREATE INDEX outbox_due ON outbox(due_at);
`;

/** Types of SQLite → types of PostgreSQL. */
const TYPES: Readonly<Record<string, string>> = {
  INTEGER: "bigint",
  TEXT: 'text COLLATE "C"',
  BLOB: "bytea",
};

/** Migration n is entry n - 1: SQL text, run in one transaction with all others that are missing. */
export const MIGRATIONS: readonly string[] = [FIRST, DISPATCHER, CREDENTIALS, FAILURES].map(
  (text) => text.replace(/\b(?:INTEGER|TEXT|BLOB)\b/g, (type) => TYPES[type] as string),
);

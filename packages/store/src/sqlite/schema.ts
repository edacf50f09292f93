/** The tables, as numbered migrations that are never edited once released. Times are epoch milliseconds, JSON is text. */

/** `MILL`: tells our files from those of others. */
export const APPLICATION_ID = 0x4d494c4c;

/** SQL text, which is one transaction; or slices, for tables that may be large. */
export type Migration = string | SlicedMigration;

/**
 * Each part is a transaction. `slice` is one statement that finds out by itself where it stopped, and is repeated until it changes
 * nothing. A process that dies in between leaves the file with the new version; the next opening goes on. Until `end`, the tables of
 * before are as they were, so that readers of the file find everything.
 */
export interface SlicedMigration {
  readonly begin: string;
  readonly slice: string;
  readonly end: string;
}

/** Rows of one slice: about a megabyte of the log. */
const SLICE_ROWS = 4_096;

const FIRST = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE graph(digest TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run(no INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, flow_id TEXT NOT NULL,
  graph TEXT NOT NULL REFERENCES graph(digest), template TEXT, template_version INTEGER, status TEXT NOT NULL,
  trigger TEXT NOT NULL, source TEXT, inputs TEXT NOT NULL, options TEXT NOT NULL, token_id TEXT, retry_of TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0, epoch INTEGER NOT NULL, lease_until INTEGER, owner TEXT,
  created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, summary TEXT, pruned INTEGER NOT NULL DEFAULT 0);
CREATE INDEX run_by_time ON run(created_at DESC, no DESC);
CREATE INDEX run_by_status ON run(status, created_at DESC);
CREATE INDEX run_by_template ON run(template, created_at DESC) WHERE template IS NOT NULL;
CREATE INDEX run_by_trigger ON run(trigger, created_at DESC);
CREATE INDEX run_by_graph ON run(graph);
CREATE INDEX run_live ON run(no) WHERE ended_at IS NULL;
CREATE INDEX run_kept ON run(ended_at) WHERE ended_at IS NOT NULL AND pruned <> 1;
CREATE INDEX run_pruned ON run(ended_at) WHERE pruned = 1;
CREATE TABLE run_tag(key TEXT, value TEXT, run INTEGER REFERENCES run(no) ON DELETE CASCADE,
  PRIMARY KEY(key, value, run)) WITHOUT ROWID;
CREATE INDEX run_tag_of ON run_tag(run);
CREATE TABLE journal(run INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, ts INTEGER NOT NULL, line BLOB NOT NULL,
  dedupe TEXT, PRIMARY KEY(run, seq)) WITHOUT ROWID;
CREATE UNIQUE INDEX journal_dedupe ON journal(run, dedupe) WHERE dedupe IS NOT NULL;
CREATE TABLE step_value(run INTEGER, key TEXT, ref TEXT NOT NULL, value TEXT, PRIMARY KEY(run, key)) WITHOUT ROWID;
CREATE TABLE private_value(run INTEGER, node TEXT, attempt INTEGER, nonce BLOB, body BLOB,
  PRIMARY KEY(run, node, attempt)) WITHOUT ROWID;
CREATE TABLE blob(digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, media_type TEXT, body BLOB NOT NULL);
CREATE TABLE run_blob(run INTEGER, digest TEXT REFERENCES blob(digest), PRIMARY KEY(run, digest)) WITHOUT ROWID;
CREATE INDEX run_blob_of ON run_blob(digest);
CREATE TABLE confirmation(run INTEGER, id TEXT, node TEXT, status TEXT NOT NULL, prompt TEXT NOT NULL, schema TEXT, tool TEXT,
  deadline INTEGER, by TEXT, value TEXT, comment TEXT, requested_at INTEGER, resolved_at INTEGER,
  PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE INDEX confirmation_open ON confirmation(status, requested_at) WHERE status = 'requested';
CREATE TABLE timer(run INTEGER, node TEXT, attempt INTEGER, fire_at INTEGER NOT NULL,
  PRIMARY KEY(run, node, attempt)) WITHOUT ROWID;
CREATE INDEX timer_due ON timer(fire_at);
CREATE TABLE feed(pos INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, seq INTEGER NOT NULL);
CREATE INDEX feed_of ON feed(run);
CREATE TABLE template(slug TEXT PRIMARY KEY, version INTEGER NOT NULL, name TEXT, description TEXT, tags TEXT, source TEXT,
  updated_at INTEGER) WITHOUT ROWID;
CREATE TABLE template_version(slug TEXT, version INTEGER, digest TEXT, text TEXT NOT NULL, graph TEXT REFERENCES graph(digest),
  created_at INTEGER, PRIMARY KEY(slug, version)) WITHOUT ROWID;
CREATE TABLE schedule(id TEXT PRIMARY KEY, body TEXT NOT NULL, enabled INTEGER, next_at INTEGER, last_fire INTEGER,
  last_error TEXT) WITHOUT ROWID;
CREATE INDEX schedule_due ON schedule(next_at) WHERE enabled = 1;
CREATE TABLE schedule_fire(schedule TEXT, fire_time INTEGER, run TEXT, outcome TEXT NOT NULL,
  PRIMARY KEY(schedule, fire_time)) WITHOUT ROWID;
CREATE INDEX schedule_fire_waiting ON schedule_fire(schedule, fire_time) WHERE outcome = 'queued' AND run IS NULL;
CREATE TABLE idempotency(scope TEXT, key TEXT, fingerprint BLOB NOT NULL, state TEXT NOT NULL, answer TEXT,
  expires_at INTEGER NOT NULL, PRIMARY KEY(scope, key)) WITHOUT ROWID;
CREATE TABLE setting(path TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hub(id TEXT PRIMARY KEY, body TEXT NOT NULL, serial INTEGER) WITHOUT ROWID;
CREATE TABLE hub_item(hub TEXT REFERENCES hub(id) ON DELETE CASCADE, item TEXT, body TEXT NOT NULL,
  PRIMARY KEY(hub, item)) WITHOUT ROWID;
CREATE TABLE webhook(id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE webhook_seen(hash TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE connection(slug TEXT PRIMARY KEY, status TEXT NOT NULL, scope TEXT, expires_at INTEGER, body TEXT NOT NULL)
  WITHOUT ROWID;
`;

/**
 * The log in the order of its COMMITs: the events of many runs that are written together lie on a few pages at the end of the table,
 * not on one page for each run.
 */
const APPENDED_JOURNAL: SlicedMigration = {
  begin: `
CREATE TABLE appended_journal(run INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, ts INTEGER NOT NULL,
  line BLOB NOT NULL);
CREATE UNIQUE INDEX journal_of ON appended_journal(run, seq)`,
  slice: `
INSERT INTO appended_journal(run, seq, kind, ts, line)
  SELECT run, seq, kind, ts, line FROM journal
  WHERE (run, seq) > (SELECT coalesce(max(run), 0), coalesce(max(seq), 0) FROM appended_journal
    WHERE rowid = (SELECT max(rowid) FROM appended_journal))
  ORDER BY run, seq LIMIT ${SLICE_ROWS}`,
  end: `
DROP TABLE journal;
ALTER TABLE appended_journal RENAME TO journal`,
};

/** Runs that failed from here on, as people are told of them; and messages that are to be sent. */
const FAILURES = `
ALTER TABLE run ADD COLUMN untold INTEGER;
ALTER TABLE run ADD COLUMN unacknowledged INTEGER;
CREATE INDEX run_untold ON run(no) WHERE untold = 1;
CREATE INDEX run_unacknowledged ON run(created_at DESC, no DESC) WHERE unacknowledged = 1;
CREATE TABLE outbox(id TEXT PRIMARY KEY, body TEXT NOT NULL, due_at INTEGER NOT NULL, rev INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX outbox_due ON outbox(due_at);
`;

/** Processes beside each other: who has the file open, who drives a run, and what others have to say to it. */
const OPENINGS = `
CREATE TABLE opening(id TEXT PRIMARY KEY, pid INTEGER NOT NULL, host TEXT NOT NULL, started_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE inbox(no INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
  message TEXT NOT NULL, answer TEXT, created_at INTEGER NOT NULL, answered_at INTEGER);
CREATE INDEX inbox_open ON inbox(run, no) WHERE answer IS NULL;
CREATE INDEX inbox_of ON inbox(run);
ALTER TABLE run ADD COLUMN holder TEXT;
ALTER TABLE run ADD COLUMN bell_at INTEGER`;

/** Where a log ends is said by its rows: an append writes none of `run`, whose rows are wide and lie on many pages. */
const ENDS_OF_LOGS = "ALTER TABLE run DROP COLUMN last_seq";

/** `lastSeq` of the dialect. */
export const LAST_SEQ = "(SELECT coalesce(max(seq), 0) FROM journal WHERE journal.run = run.no)";

/** Migration n is entry n - 1. */
export const MIGRATIONS: readonly Migration[] = [
  ...[FIRST, APPENDED_JOURNAL, FAILURES, OPENINGS],
  ENDS_OF_LOGS,
];

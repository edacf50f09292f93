export { StoreError, type StoreErrorCode } from "./errors.ts";
export type { StoreJournal } from "./journal/journal.ts";
export { type Holder, readHolder } from "./lock.ts";
export {
  type OpenStoreOptions,
  openMemoryStore,
  openStore,
} from "./open-store.ts";
export type { RetentionLimits, RetentionReport } from "./retention/retention.ts";
export { type RetentionOptions, startRetention } from "./retention/start-retention.ts";
export type { Bells } from "./runs/bells.ts";
export type { ConfirmationQuery, Confirmations } from "./runs/confirmations.ts";
export type { Cursors } from "./runs/cursor.ts";
export type { Feed } from "./runs/feed.ts";
export type { Inbox, PendingRequest } from "./runs/inbox.ts";
export type { Runs } from "./runs/runs.ts";
export type { Condition, Opening } from "./sql/port.ts";
export type { DriverName } from "./sqlite/driver.ts";
export type {
  Fault,
  SqliteDb,
  SqliteDriver,
  SqlRow,
  SqlValue,
  Stmt,
} from "./sqlite/sqlite-port.ts";
export { isShared, type SharedStore, type Store, type Tables } from "./store.ts";
export type { ConnectionRow, Connections } from "./tables/connections.ts";
export type { CredentialLease, SharedCredentials } from "./tables/credentials.ts";
export type { Hubs } from "./tables/hubs.ts";
export type { Idempotency, IdempotentRequest, Seen } from "./tables/idempotency.ts";
export type { Outbox, OutboxChange, OutboxRow } from "./tables/outbox.ts";
export type { Fire, FireOutcome, ScheduleRow, Schedules, WaitingFire } from "./tables/schedules.ts";
export type { SettingsTable } from "./tables/settings.ts";
export type { NewestText, NewTemplate, Templates } from "./tables/templates.ts";
export { type StoredVar, type Vars, varsFor } from "./tables/vars.ts";
export type { WebhookRow, Webhooks } from "./tables/webhooks.ts";

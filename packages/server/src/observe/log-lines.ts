/** Every line that a server logs: the documentation is written from this table, and a test finds a line that is not in it. */

/** One line of the log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  /** The event, as the rest of a sentence that begins with "when". */
  readonly when: string;
  /** Fields besides `level`, `time` and `msg`; a field that does not apply is absent or null. */
  readonly fields: readonly string[];
}

const line = (level: LogLine["level"], when: string, ...fields: readonly string[]): LogLine => ({
  ...{ level, when, fields },
});

/** By the text of `msg`. */
export const LOG_LINES: { readonly [msg: string]: LogLine } = {
  "server.listening": line(
    "info",
    "the server takes requests",
    ...["url", "studio", "version", "pid", "store", "data", "executor", "requiresToken"],
  ),
  "server.no_page": line("warn", "the files of the web page cannot be read", "problem"),
  "server.open": line("warn", "an address that others can reach needs no token", "host"),
  "credentials.file_chosen": line(
    "warn",
    "this machine has no keyring and nothing says where credentials are kept: they are in an encrypted file, whose key is in the file `key`; `config` says so from now on",
    ...["key", "config"],
  ),
  "server.warning": line(
    "warn",
    "something of the configuration does not count, or is not safe",
    "problem",
  ),
  "server.failed": line(
    "error",
    "it cannot start, or cannot go on; the exit code of the process says how",
    ...["code", "problem", "hint"],
  ),
  "server.not_announced": line("warn", "the store could not note the address", "err"),
  "server.recovered": line(
    "info",
    "runs of the process before were taken up",
    ...["resumed", "parked", "failed", "ms"],
  ),
  "server.reloaded": line("info", "tokens were read anew, as SIGHUP asks", "tokens"),
  "server.not_reloaded": line("error", "they could not be: those from before stay", "err"),
  "server.stopping": line("info", "a signal asks it to stop", "signal"),
  "server.draining": line(
    "info",
    "it takes no new work, and waits for the runs in `waitsFor` (the first 20 of `runs`)",
    ...["graceMs", "runs", "waitsFor"],
  ),
  "server.stopped": line(
    "info",
    "it has stopped; `parked` runs go on at the next start, or at another server",
    ...["finished", "cancelled", "parked", "ms"],
  ),
  "process.fatal": line(
    "error",
    "an error was caught by nobody; it ends with 70",
    "err",
    "extension",
  ),
  "listener.failed": line("error", "a connection could not be accepted", "err"),

  request: line(
    "info",
    "a request was answered",
    ...["requestId", "method", "path", "route", "status", "ms", "bytes", "client", "tokenId"],
    "trace_id",
  ),
  "request.failed": line("error", "a request was answered with 500", "requestId", "err"),
  "token.rejected": line(
    "warn",
    "a request had no token (`missing`), one that is not known (`unknown`), or came after too many of them (`too_many`)",
    ...["requestId", "method", "path", "client", "reason"],
  ),
  "stream.stalled": line("warn", "a stream was cut because its reader took nothing", "requestId"),
  "mcp.refused": line("debug", "a message of an agent was refused", "err"),
  "stream.failed": line("error", "a stream ended with an error", "requestId", "err"),
  "command.failed": line(
    "error",
    "a command of the desktop ended with an error",
    "requestId",
    "err",
  ),
  "channel.failed": line("error", "a channel of the desktop ended with an error", "err"),

  "run.started": line("debug", "a run has begun", "runId", "flow", "trigger", "by"),
  "run.paused": line("info", "a run waits for a person", "runId", "flow", "reason"),
  "run.resumed": line("info", "a person lets a run go on", "runId", "flow", "reason"),
  "run.recovered": line("info", "a run of the process before goes on", "runId", "flow"),
  "run.ended": line(
    "info",
    "a run has ended: the one line of each run",
    ...["runId", "flow", "template", "trigger", "by", "retryOf", "status", "code", "node", "ms"],
    "trace_id",
  ),
  "run.not_taken_up": line("error", "a run of the process before cannot go on", "runId", "err"),
  "run.not_given_up": line("error", "nor can it be ended", "runId", "err"),
  "run.not_cancelled": line("debug", "a run whose reader left had ended already", "runId", "err"),

  "run.claimed": line("info", "this server drives a run from now on", "runId"),
  "run.taken_over": line("info", "it goes on with what another server has left", "runId", "flow"),
  "run.left": line(
    "info",
    "it drives a run no longer, and the run has not ended",
    "runId",
    "flow",
    "state",
  ),
  "run.fenced": line(
    "warn",
    "another server has the run: what this one wrote was refused",
    "runId",
    "flow",
  ),
  "run.refused": line(
    "warn",
    "this server cannot take a run up, another one may",
    "runId",
    "err",
    "count",
  ),
  "run.not_rung": line(
    "warn",
    "no server could be told of a run; it is told again",
    "runId",
    "err",
  ),
  "run.not_taken_over": line(
    "warn",
    "a run of a dead server could not be taken over; it is tried again",
    "runId",
    "err",
  ),
  "run.drive_failed": line("warn", "a drive ended with an error, and is repeated", "runId", "err"),
  "bells.not_read": line("warn", "runs that wait too long could not be looked for", "err"),
  "store.lost": line(
    "error",
    "the store takes no writes: `store_unavailable`, `store_full`, `store_read_only`",
    "condition",
  ),
  "store.back": line("info", "it does again, after `ms`", "ms"),
  "dispatcher.lost": line("error", "what gives runs to servers cannot be reached: runs wait"),
  "dispatcher.back": line("info", "it can again, after `ms`", "ms"),
  "restate.not_registered": line(
    "warn",
    "Restate did not take the address of this server; it is told again",
    "endpoint",
    "err",
  ),
  "clock.differs": line(
    "warn",
    "the clock of this server is far from that of the store",
    "text",
    "aheadMs",
  ),
  "restate.sdk_error": line("warn", "the library of Restate tells of an error", "runId", "text"),

  "schedule.proposed": line(
    "info",
    "a flow proposes a schedule that nobody has activated",
    "template",
    "schedule",
  ),
  "schedule.skipped": line(
    "info",
    "a fire time starts nothing: a run is not over (`overlap`), it is long past (`missed`), or too many wait (`full`)",
    ...["scheduleId", "fireTime", "reason"],
  ),
  "schedule.error": line("warn", "a fire time could not start its run", "scheduleId", "reason"),
  "schedule.failed": line("error", "schedules could not be read", "err"),
  "webhook.refused": line(
    "warn",
    "a call of a webhook is not signed as its scheme says (`missing`), not with its key (`wrong`), more than five minutes from the clock here (`stale`), or came again (`used`)",
    ...["requestId", "webhookId", "template", "reason"],
  ),
  "webhook.no_template": line(
    "warn",
    "a webhook was called whose template is gone",
    "webhookId",
    "template",
  ),
  "webhook.flow_invalid": line(
    "warn",
    "a webhook was called whose flow cannot run",
    "webhookId",
    "template",
    "err",
  ),
  "webhook.secret_left": line(
    "warn",
    "the key of a deleted webhook stays in the credential store",
    "webhookId",
    "err",
  ),

  "notification.sent": line(
    "info",
    "somebody was told of `count` failures of a flow, the last one of run `runId`",
    ...["id", "kind", "runId", "flow", "count", "attempts"],
  ),
  "notification.failed": line(
    "warn",
    "they could not be told, for `reason`; it is tried again in `retryMs`",
    ...["id", "kind", "runId", "flow", "count", "attempts", "reason", "retryMs"],
  ),
  "notification.given_up": line(
    "error",
    "nor will it be tried again: `no_secret`, `not_allowed` (a URL of `@notify` on another origin than `notify.to`), `not_found` (the template), `input_invalid` (see `text`), `http_500` of the receiver, …",
    ...["id", "kind", "runId", "flow", "count", "attempts", "reason", "text"],
  ),
  "notifications.full": line(
    "warn",
    "`notifyMaxQueued` messages wait: until there are fewer, failures are only counted",
    "queued",
  ),
  "notifications.failed": line(
    "error",
    "failed runs, or the one that is named, could not be read from the store",
    ...["runId", "err"],
  ),

  "connect.failed": line("warn", "a service was not connected", "slug", "code", "reason"),
  "connect.no_refresh_token": line(
    "warn",
    "a service gave a credential that cannot be renewed",
    "slug",
  ),
  "revoke.no_client": line(
    "warn",
    "a credential could not be revoked: its client is not configured",
    "slug",
  ),
  "revoke.failed": line("warn", "a service did not revoke a credential", "slug", "code"),
  "models.not_opened": line("error", "managed models cannot be used", "err"),
  "model.load_failed": line("warn", "a model could not be loaded", "err"),
  "model.scan_failed": line("warn", "the folder of models could not be read", "err"),
  "retention.done": line(
    "info",
    "what is older than it is kept was deleted",
    "pruned",
    "deleted",
    "feed",
    "fires",
    "requests",
    "ms",
  ),
  "retention.failed": line("error", "old runs could not be deleted", "err"),
  "traces.not_opened": line("warn", "traces are asked for, and cannot be made", "problem"),
  "traces.lost": line("warn", "the receiver of traces takes none", "problem"),
  "traces.back": line("info", "it does again; spans of the time between are lost"),
  "flows.not_watched": line("warn", "the folder of flows is not watched", "err"),
  "flow.not_read": line("error", "a file of a flow could not be read", "err"),
  extension: line("warn", "an extension has a problem", "problem"),
};

/**
 * `GET /api/events`: starts, pauses, confirmations and ends of all runs, from a position of the feed on, then live. A reader
 * is a position and holds one page, so a slow one loses nothing and costs no memory.
 * @see the server page, "Run streams"
 */
import type { ParsedArgs, StoredEvent } from "@millrace/contracts";
import type { Feed } from "@millrace/store";
import type { StreamHandler } from "../app/routes.ts";
import { notWired } from "../dispatch/index.ts";
import { ProblemError } from "../errors.ts";
import type { Exchange } from "../http/index.ts";
import type { CommandCall } from "../ports.ts";
import { acceptsEvents } from "../runs/index.ts";
import type { EventStreams } from "./event-stream.ts";
import { followPages } from "./follow-pages.ts";

/** Where a reader begins. */
interface Beginning {
  /** Entries after this one are sent. */
  readonly after: number;
  /** Entries that the reader asked for are gone. */
  readonly hasGap: boolean;
}

/** The page that was read last: of many readers that wait for the next entry, one reads it. */
interface LastPage {
  readonly after: number;
  readonly tip: number;
  readonly entries: Promise<readonly StoredEvent[]>;
}

/** Reads a feed from a position on, then live, until the signal. */
export type FeedReader = (
  feed: Feed,
  after: number,
  signal: AbortSignal,
) => AsyncGenerator<readonly StoredEvent[], void>;

/** Makes a reader that any number of readers may share. */
export function createFeedReader(): FeedReader {
  let last: LastPage | undefined;

  async function page(feed: Feed, after: number): Promise<readonly StoredEvent[]> {
    const tip = await feed.last();
    if (last?.after !== after || last.tip !== tip) last = { after, tip, entries: feed.read(after) };
    return last.entries;
  }

  return (feed, after, signal) =>
    followPages(
      { read: (at) => page(feed, at), listen: (told) => feed.listen(told) },
      after,
      signal,
    );
}

/** Makes the stream of `GET /api/events`. */
export function createFeedStream(streams: EventStreams): StreamHandler {
  const read = createFeedReader();
  return async (args: ParsedArgs<"subscribe_events">, call: CommandCall, exchange: Exchange) => {
    const { feed } = call.host.store;
    const { after, hasGap } = await beginningOf(feed, args.after);
    streams.checkCapacity();
    const accepts = acceptsEvents({ kinds: args.kinds });
    return streams.answer(exchange, {
      format: "sse-id",
      headers: hasGap ? { "Millrace-Feed-Gap": "true" } : {},
      read: (signal) => read(feed, after, signal),
      position: after,
      accepts,
    });
  };
}

/** Without a position a reader gets what comes from now on. Throws `bad_cursor` for one that the feed has not reached. */
async function beginningOf(feed: Feed, asked: number | undefined): Promise<Beginning> {
  const last = await feed.last();
  if (asked === undefined) return { after: last, hasGap: false };
  if (asked > last) {
    throw new ProblemError("bad_cursor", {
      detail: "The position is ahead of the feed: it is of another store",
    });
  }
  const oldest = (await feed.first()) ?? last + 1;
  return { after: Math.max(asked, oldest - 1), hasGap: asked + 1 < oldest };
}

/** Makes the stream; without models it is not wired. */
export function createModelsStream(streams: EventStreams): StreamHandler {
  return async (_args: object, { host }: CommandCall, exchange: Exchange) => {
    const { models } = host;
    if (models === null) throw notWired("subscribe_models");
    streams.checkCapacity();
    return streams.answer(exchange, {
      format: "sse",
      read: (signal) => models.events.read(signal),
    });
  };
}

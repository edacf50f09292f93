/** A client of the server's API, for browsers and for Node. */
// The parts of a client, for transports over HTTP.
export {
  type CallOptions,
  type CallResult,
  CLIENT_OPTIONS,
  type Client,
  type ClientOptions,
  createClient,
  type EventOptions,
  type FeedEntry,
  type LogOptions,
  type RunClient,
} from "./client.ts";
export {
  ClientError,
  type ClientErrorCode,
  type ClientErrorOptions,
  problemError,
  refusal,
} from "./error.ts";
export { dataOf, eventsOf } from "./event-stream.ts";
export type { Retrying } from "./follow.ts";
export type { ServerAddress } from "./send.ts";
export { callFetch } from "./send.ts";

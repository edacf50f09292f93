/** A client of the server's API, for browsers and for Node. */
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type EventOptions,
} from "./client.ts";
export {
  ClientError,
  type ClientErrorCode,
  type ClientErrorOptions,
  problemError,
  refusal,
} from "./error.ts";
export { eventsOf } from "./event-stream.ts";
export type { Retrying } from "./follow.ts";
export type { ServerAddress } from "./send.ts";

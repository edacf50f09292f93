/** One request and its answer, on Node and on fetch. */
export { readJsonBody, readRawBody } from "./body.ts";
export {
  type Caller,
  Exchange,
  type ExchangeReport,
  type NodeBindings,
  type Reply,
} from "./exchange.ts";
export { type HeaderRecord, preflightHeaders } from "./headers.ts";
export { closeListener, createListener, listen } from "./listener.ts";
export { parseJson } from "./parse-json.ts";
export { answerError, documentOf } from "./problem.ts";
export { createRequestIds } from "./request-id.ts";

/** One request and its answer, on Node and on fetch. */
export { parseJson, readJsonBody, readRawBody } from "./body.ts";
export {
  Exchange,
  type ExchangeReport,
  type HeaderRecord,
  type NodeBindings,
  preflightHeaders,
  type Reply,
} from "./exchange.ts";
export { createRequestIds, newId } from "./ids.ts";
export { closeListener, createListener, listen } from "./listener.ts";
export { answerError, documentOf } from "./problem.ts";

/** How commands are called, checked and answered, whichever way a call comes. */
export { type BoundCommand, bindArgs, checkArgs, isBound } from "./args.ts";
export {
  checkConditions,
  etagOf,
  inTurn,
  isUnchanged,
  tagged,
  withTag,
} from "./conditions.ts";
export {
  Answer,
  after,
  dispatch,
  invoke,
  JSON_TYPE,
  notWired,
  refuseWhileDraining,
  wire,
} from "./dispatch.ts";
export { type KeyedCall, keyed, keyedStart, oncePerKey, REPLAYED } from "./idempotency.ts";
export { pageOf } from "./pages.ts";

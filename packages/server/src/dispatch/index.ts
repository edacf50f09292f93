/** How commands are called, checked and answered, whichever way a call comes. */
export { Answer, BYTES, bytesReply, JSON_TYPE, jsonReply, wire } from "./answer.ts";
export { checkArgs } from "./check-args.ts";
export { checkConditions, etagOf, inTurn, tagged, withTag } from "./conditions.ts";
export { dispatch, invoke, notWired, refuseWhileDraining } from "./dispatch.ts";
export { keyed, keyedStart, oncePerKey, REPLAYED } from "./idempotency.ts";
export { pageOf } from "./pages.ts";

/** What a command is to this server, whichever way it is called. */
export {
  Answer,
  checkArgs,
  checkDraining,
  checkRole,
  checkStore,
  notWired,
  refuseWhileDraining,
  wire,
} from "./command.ts";
export { type Cursors, createCursors } from "./cursors.ts";
export { checkConditions, etagOf, tagged } from "./etag.ts";
export { IdempotencyKeys, type KeyedResult, REPLAYED } from "./idempotency.ts";
export { inTurn } from "./in-turn.ts";
export { invokeCommand, readInvocation } from "./invoke.ts";
export { keyed, keyedStart } from "./keyed.ts";
export { newId } from "./new-id.ts";
export { pageOf } from "./page.ts";
export { BYTES, bytesReply, JSON_TYPE, jsonReply } from "./reply.ts";
export { runCommand } from "./run-command.ts";

/** What a command is to this server, whichever way it is called. */

export { BYTES, bytesReply, JSON_TYPE, jsonReply } from "./answer.ts";
export { checkConditions, etagOf, inTurn, tagged } from "./conditions.ts";
export {
  Answer,
  checkArgs,
  checkDraining,
  checkRole,
  checkStore,
  invokeCommand,
  notWired,
  readInvocation,
  refuseWhileDraining,
  runCommand,
  wire,
} from "./dispatch.ts";
export { keyed, keyedStart, REPLAYED, StoredKeys } from "./idempotency.ts";
export { createCursors, pageOf } from "./pages.ts";

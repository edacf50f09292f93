/** Small helpers that the packages of Millrace share. They know JSON and nothing of flows. */
export { canonicalJson, Written } from "./canonical-json.ts";
export { listOf, UnorderedMap } from "./long-lived.ts";
export { nearestName } from "./nearest-name.ts";
export { isObject, memberNames } from "./objects.ts";
export { pointerKey, pointerKeys, pointerSegment } from "./pointer.ts";
export { REDACTED, redactedPlaces } from "./redacted.ts";
export { sha256Hex } from "./sha256.ts";
export { sleep, type Timers, untilAborted, whenAborted } from "./wait.ts";

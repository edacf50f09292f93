/** Core's node types. The list is the catalog: a type that is not here does not exist. */
import { typesOf } from "../definitions.ts";
import type { NodeType } from "../node-type.ts";
import { ai } from "./ai.ts";
import { condition } from "./condition.ts";
import { confirm } from "./confirm.ts";
import { delay } from "./delay.ts";
import { fail } from "./fail.ts";
import { fileAdapter, isIdempotentWrite } from "./file/index.ts";
import { httpAdapter, requestEffect } from "./http/index.ts";
import { join } from "./join.ts";
import { log } from "./log.ts";
import { loop } from "./loop.ts";
import { map } from "./map.ts";
import { serviceCall } from "./service-call.ts";
import { shellAdapter } from "./shell.ts";
import { subflow } from "./subflow.ts";
import { switchType } from "./switch.ts";
import { transform } from "./transform.ts";

/** Every core type, in the order of the documentation. */
export function coreTypes(): readonly NodeType[] {
  return [
    condition,
    switchType,
    join,
    map,
    loop,
    subflow,
    delay,
    confirm,
    transform,
    log,
    fail,
    ai,
    serviceCall,
    ...typesOf(httpAdapter).map((type) => ({ ...type, effectOf: requestEffect })),
    ...typesOf(fileAdapter).map(withIdempotence),
    ...typesOf(shellAdapter),
  ];
}

/** Only a file that is replaced as a whole may be written twice. */
function withIdempotence(type: NodeType): NodeType {
  return type.entry.type === "file.write" ? { ...type, idempotentOf: isIdempotentWrite } : type;
}

/** Every node type of Millrace in one registry. */
import { aiPack } from "@millrace/ai";
import { createRegistry, type Registry, type TypeSource } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";

/** A registry of control types, `ai`, `service.call`, `http.request`, `file.*`, `shell.exec`, and `types`. Throws what `createRegistry` throws. */
export function createStandardRegistry(types: readonly TypeSource[] = []): Registry {
  return createRegistry([aiPack(), servicesPack(), nodePack(), ...types]);
}

/** The node types of the packs, for flows of tests that reach beyond the engine. */
import type { NodePack } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { aiPack } from "../../ai/src/index.ts";
import { servicesPack } from "../../services/src/index.ts";

export const STANDARD_TYPES: NodePack = [...aiPack(), ...servicesPack(), ...nodePack()];

/** The node types of the packs, for flows of tests that reach beyond the engine. */

import { aiPack } from "@millrace/ai";
import type { NodePack } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";

export const STANDARD_TYPES: NodePack = [...aiPack(), ...servicesPack(), ...nodePack()];

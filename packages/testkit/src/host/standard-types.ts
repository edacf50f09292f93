/** The node types that every host of Millrace has beside control types. */
import { aiPack } from "@millrace/ai";
import type { NodePack } from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";

export const STANDARD_TYPES: NodePack = [...aiPack(), ...servicesPack(), ...nodePack()];

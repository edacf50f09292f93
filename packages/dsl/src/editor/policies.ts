/** The policies of a node, for forms. */
import { NODE_POLICIES } from "../language/blocks.ts";

/** Each policy of a node by its name in the text, such as `on-error`; its value is the name in the graph, such as `onError`. */
export const NODE_POLICY_NAMES: ReadonlyMap<string, string> = new Map(
  NODE_POLICIES.map(({ text, key }) => [text, key]),
);

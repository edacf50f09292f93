/** Answers to confirmations given beforehand: `--confirm node=approve`, `--confirm '*=reject'`, `--yes`. */
import type { Answer, ConfirmHandler } from "@millrace/engine";
import { usage } from "./errors.ts";
import { splitPair } from "./pairs.ts";

const DECISIONS: Record<string, "approve" | "reject"> = { approve: "approve", reject: "reject" };

/** Answers by node path, with or without its `[i]` and `~a` parts; undefined leaves the confirmation open. */
export function prepareAnswers(words: readonly string[], yes: boolean): ConfirmHandler {
  const answers = new Map<string, "approve" | "reject">();
  for (const word of words) {
    const [node, answer] = splitPair(word, "--confirm");
    const decision = Object.hasOwn(DECISIONS, answer) ? DECISIONS[answer] : undefined;
    if (decision === undefined)
      throw usage(`--confirm ${node} takes approve or reject, found "${answer}"`);
    answers.set(node, decision);
  }
  return ({ node }): Answer | undefined => {
    const bare = node.replace(/~\d+|\[\d+\]/g, "");
    const decision = answers.get(node) ?? answers.get(bare) ?? answers.get("*");
    if (decision !== undefined) return { decision, by: "cli --confirm" };
    return yes ? { decision: "approve", by: "cli --yes" } : undefined;
  };
}

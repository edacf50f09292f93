/** Which inputs of a run nobody is shown. */
import type { RunInputs } from "@millrace/contracts";
import { pointerKeys } from "@millrace/contracts/kit";

/** Names of the inputs that hold a secret. */
export function hiddenInputs({ redacted }: RunInputs): ReadonlySet<string> {
  return new Set(redacted.map((pointer) => pointerKeys(pointer)[0] ?? ""));
}

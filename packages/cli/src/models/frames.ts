/** Events of managed models as a stream: what `GET /api/models/events` sends, frame by frame. */

import { ClientError, refusal } from "@millrace/client";
import type { ModelsFrame } from "@millrace/contracts";

/**
 * Asks for the stream; frames come from then on, until the signal. Rejects with `ClientError`: the server's refusal,
 * `bad_answer`, or `unreachable`; so does the stream when it breaks off.
 */
export async function openFrames(
  ask: (init: RequestInit) => Promise<Response>,
  signal: AbortSignal,
): Promise<AsyncIterable<ModelsFrame>> {
  const response = await ask({ headers: { accept: "text/event-stream" }, signal }).catch(
    (cause: unknown) => {
      signal.throwIfAborted();
      if (ClientError.isInstance(cause)) throw cause;
      throw new ClientError("unreachable", "the models cannot be heard", { cause });
    },
  );
  if (!response.ok) throw await refusal(response);
  return framesOf(response);
}

async function* framesOf(response: Response): AsyncGenerator<ModelsFrame, void> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream") || response.body === null) {
    await response.body?.cancel();
    throw new ClientError("bad_answer", `the answer is "${type}" and no event stream`);
  }
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response.body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        // Comments keep the connection alive.
        if (block.startsWith("data:")) yield toFrame(block.slice("data:".length));
      }
    }
  } catch (cause) {
    if (ClientError.isInstance(cause)) throw cause;
    throw new ClientError("unreachable", "the stream of models broke off", { cause });
  }
}

function toFrame(text: string): ModelsFrame {
  try {
    return JSON.parse(text) as ModelsFrame;
  } catch (cause) {
    throw new ClientError("bad_answer", "a line of the answer is no frame", { cause });
  }
}

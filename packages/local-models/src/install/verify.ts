/** SHA-256 of a file, read while the piece before is being hashed. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const PIECE = 1_048_576; // below a millisecond of hashing: the event loop gets its turn

/** Hex digest of a file. `told` gets the bytes that were hashed. Rejects with the reason of `signal`. */
export async function hashFile(
  path: string,
  { signal, told }: { readonly signal: AbortSignal; readonly told: (bytes: number) => void },
): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const buffers = [Buffer.allocUnsafe(PIECE), Buffer.allocUnsafe(PIECE)] as const;
    const read = (turn: number): Promise<{ bytesRead: number }> =>
      file.read(buffers[turn % 2] as Buffer, 0, PIECE);
    let next = read(0);
    for (let turn = 0, bytes = 0; ; turn++) {
      const { bytesRead } = await next;
      if (bytesRead === 0) return hash.digest("hex");
      signal.throwIfAborted();
      next = read(turn + 1);
      hash.update((buffers[turn % 2] as Buffer).subarray(0, bytesRead));
      bytes += bytesRead;
      told(bytes);
    }
  } finally {
    await file.close();
  }
}

// A server with the page, of options that are plain data. As a program, in a process of its own, it takes them as JSON, and its
// address goes to stdout.
import { fileURLToPath } from "node:url";
import { defineService } from "@millrace/contracts";
import { start } from "@millrace/server";
import { studioAssets } from "@millrace/studio";

const quiet = () => {};

/**
 * Starts it.
 * @param {object} options
 */
export async function serve(options) {
  return start({
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    ...options,
    services: (options.services ?? []).map(defineService),
    studio: await studioAssets(),
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(JSON.parse(process.argv[2]));
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}

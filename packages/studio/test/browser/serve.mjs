// A server with the page, in a process of its own, so that tests can kill it. Options come as JSON; the address goes to stdout.
import { defineService } from "@millrace/contracts";
import { start } from "@millrace/server";
import { studioAssets } from "@millrace/studio";

const options = JSON.parse(process.env.STUDIO_TEST_OPTIONS);
const quiet = () => {};
const server = await start({
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  ...options,
  services: (options.services ?? []).map(defineService),
  studio: await studioAssets(),
});
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);

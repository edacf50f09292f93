/**
 * The process that holds one loaded model and serves it on loopback. Plain JavaScript, so that it runs from the sources as well.
 *   R1  The token and the path come with the first message, never by argument, variable or file.
 *   R2  It does not outlive its parent: it ends when the channel closes, or at the latest two seconds after.
 *   R3  It serves no request without the token, and listens on this machine alone.
 * In:  { modelPath, token, threads, contextSize, gpu, embedding, engine }. Out: { ready, port } or { failed: { code, message } }.
 */
import { createServing } from "./http.js";
import { openModel } from "./model.js";

const PARENT_CHECK_MS = 2_000; // a second net: the channel of a killed parent closes at once

const parent = process.ppid;
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {}); // of a terminal, meant for the parent, which ends this process when it is done
setInterval(() => process.ppid === parent || process.exit(0), PARENT_CHECK_MS).unref();

process.once("message", async (request) => {
  try {
    const model = await openModel(request);
    const port = await createServing({ model, token: request.token }).listen();
    process.send({ ready: true, port });
  } catch (error) {
    const { code = "load_failed", message } = error;
    process.send({ failed: { code, message: String(message).slice(0, 500) } }, () =>
      process.exit(1),
    );
  }
});

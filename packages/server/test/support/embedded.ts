import { createServer } from "@millrace/server";

const server = await createServer({ store: "memory" });
const response = await server.request("/api/run", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ dsl: 'flow 1 hi\n\nnode say: log {\n  message = "hi"\n}\n' }),
});
export const frames: string = await response.text(); // data: {"v":1,"kind":"run.started",…}
await server.close();

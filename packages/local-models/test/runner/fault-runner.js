// A process in place of a runner; the argument says what is wrong with it.
import { createServer } from "node:http";

const [, , fault] = process.argv;
process.on("disconnect", () => process.exit(0));
process.once("message", ({ modelPath }) => {
  switch (fault) {
    case "exits":
      process.stderr.write("the last words");
      return process.exit(3);
    case "garbage":
      return process.send("garbage");
    case "fails":
      return process.send({ failed: { message: `cannot read ${modelPath}` } });
    case "hangs":
      return undefined;
    default: {
      const server = createServer((_request, response) => response.end("{}"));
      server.listen(0, "127.0.0.1", () =>
        process.send({ ready: true, port: server.address().port }),
      );
    }
  }
});

// A manager's process as far as its runner sees it: starts the runner, gives it a model, and is killed.
import { fork } from "node:child_process";

const [, , runner, modelPath, engine] = process.argv;
const child = fork(runner, [], { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
child.send({ modelPath, token: "t", threads: 1, contextSize: 256, embedding: false, engine });
child.once("message", () => process.stdout.write(`${child.pid}\n`));

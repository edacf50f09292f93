#!/usr/bin/env node
import { main } from "../dist/index.js";

process.exitCode = await main(process.argv.slice(2), {
  cwd: process.cwd(),
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
});

import { test } from "node:test";
import { conformance } from "@millrace/testkit";
import extension from "../src/extension.js";

for (const { name, run } of conformance(extension)) test(name, run);

import { project } from "../../vitest.source.ts";

export default project("ai");

/** zod for tests of packages that do not depend on it. */
export * as z from "zod";

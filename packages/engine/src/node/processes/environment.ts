/** What variables a program sees. */
import { denied } from "./failures.ts";

/**
 * Variables that decide which code a program loads before it reads its arguments: with one of them an allowed program is
 * any program. No list of them is complete; it stops the ways that every system has.
 */
const OF_THE_OPERATOR =
  /^(?:PATH|LD_.*|DYLD_.*|NODE_OPTIONS|BASH_ENV|ENV|PERL5OPT|PYTHONPATH|RUBYOPT|JAVA_TOOL_OPTIONS)$/i;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The variables `passed` of this process, as far as it has them, and over them those of the flow. Throws `program_denied`. */
export function environment(
  passed: readonly string[],
  own: { readonly [name: string]: string },
): { readonly [name: string]: string } {
  const variables = new Map<string, string>();
  for (const name of passed) {
    const value = process.env[name];
    if (value !== undefined) variables.set(name, value);
  }
  for (const [name, value] of Object.entries(own)) {
    if (!NAME.test(name)) {
      throw denied(`env: ${JSON.stringify(name.slice(0, 100))} is no name of a variable`);
    }
    if (OF_THE_OPERATOR.test(name)) {
      throw denied(
        `env: ${name} decides what code a program loads; only the operator passes it on`,
      );
    }
    variables.set(name, value);
  }
  return Object.fromEntries(variables);
}

/** Name resolution for one connection: asked once, every answer checked, and only checked answers handed on. */
import { lookup } from "node:dns/promises";
import { isIPv6, type LookupFunction } from "node:net";
import { parseAddress } from "./address.ts";
import { type EgressCheck, explain, type Target } from "./egress-check.ts";
import { dnsFailed, refused } from "./refusal.ts";

/** Answers all addresses of a name; rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The resolver of the machine, `/etc/hosts` included. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** The addresses that a connection may use, as `node:net` asks for them. */
export class PinnedLookup {
  readonly #target: Target;
  readonly #check: EgressCheck;
  readonly #resolve: Resolve;
  #answers: ReadonlySet<string> | null = null;

  constructor(target: Target, check: EgressCheck, resolve: Resolve) {
    this.#target = target;
    this.#check = check;
    this.#resolve = resolve;
  }

  /** Not called for literal addresses; with `all` when both families are tried at once. */
  readonly lookup: LookupFunction = (_host, options, done) => {
    this.addresses().then(
      (answers) => {
        const fit = answers.filter(({ family }) => !options.family || options.family === family);
        const [first] = fit;
        if (first === undefined) {
          done(dnsFailed(this.#target.host, { code: "ENODATA" }), []);
        } else if (options.all === true) done(null, fit);
        else done(null, first.address, first.family);
      },
      (error) => done(error as Error, []),
    );
  };

  /** Whether a socket may be used that says it is connected to `remote`. */
  refusal(remote: string | undefined): Error | undefined {
    const address = remote ?? "";
    const rule = this.#check.address(address, this.#target);
    if (rule !== undefined) return refused(rule, explain(rule, this.#target.host));
    if (this.#answers === null || this.#answers.has(canonical(address))) return undefined;
    return refused("address-changed", `${this.#target.host} is not where it was found to be`);
  }

  /** The addresses of the name, of which each is permitted. Throws `dns`, `egress_denied`. */
  async addresses(): Promise<{ address: string; family: 4 | 6 }[]> {
    const { host } = this.#target;
    const found = await this.#resolve(host).catch((error) => {
      throw dnsFailed(host, error);
    });
    if (found.length === 0) throw dnsFailed(host, { code: "ENODATA" });
    for (const address of found) {
      const rule = this.#check.address(address, this.#target);
      if (rule !== undefined) throw refused(rule, explain(rule, host));
    }
    this.#answers = new Set(found.map(canonical));
    return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  }
}

function canonical(address: string): string {
  return (parseAddress(address) ?? []).join();
}

/** What the tests use of a library that comes without types. */
declare module "oidc-provider" {
  import type { EventEmitter } from "node:events";
  import type { RequestListener } from "node:http";

  export default class Provider extends EventEmitter {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}

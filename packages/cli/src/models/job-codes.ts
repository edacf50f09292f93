/** What the ends of jobs on models mean, and what to do next: hints of `models install` and `engine fetch`, and `explain CODE`. */
export const JOB_CODES: { readonly [code: string]: string } = {
  digest_mismatch:
    "The file is not the one that --sha256 names, and was not kept. Compare the digest with that of its publisher.",
  download_interrupted:
    "The connection broke off again and again. The same command goes on where it stopped.",
  download_denied:
    "The server refuses the file, or egress does. A file behind a login needs --credential NAME, stored with `millrace secrets set`; a host in a private network needs `egress.allow` in the user configuration; a registry of your own is `models.registryUrl`.",
  download_not_found: "There is no such file. Check the URL in a browser.",
  download_failed:
    "The server did not send the file as it should. The message says how; another source may help.",
  disk_full: "Make room on the disk of the models. The same command goes on where it stopped.",
  invalid_model:
    "The file is no GGUF model that can be run: often a web page or an archive in its place, or a model of another format.",
  engine_offline:
    "The registry of npm packages, which the engine comes from, cannot be reached. Check the network, or name a mirror: `millrace config set --user models.registryUrl https://npm.example`.",
  engine_unsupported: "There is no engine for this system. The guide on local models lists them.",
  engine_digest_mismatch:
    "The registry sends other packages than this release was made with. Use the public registry or a mirror that is whole.",
  engine_missing: "No engine is there yet: `millrace models engine fetch` gets it.",
};

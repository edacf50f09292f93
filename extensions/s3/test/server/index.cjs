// The server of the tests, mended: a package between, as pnpm warns of a program that a package of the project names and has not.
const crypto = require("node:crypto");

// It names the next page of a list by DES, which OpenSSL 3 has no more; with three times the same key, Triple DES is DES.
for (const name of ["createCipheriv", "createDecipheriv"]) {
  const make = crypto[name];
  crypto[name] = (algorithm, key, ...rest) =>
    algorithm === "des"
      ? make("des-ede3-cbc", Buffer.concat([key, key, key]), ...rest)
      : make(algorithm, key, ...rest);
}

module.exports = {
  S3rver: require("@20minutes/s3rver"),
  accounts: require("@20minutes/s3rver/lib/models/account.js"),
};

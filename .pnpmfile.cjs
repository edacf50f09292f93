// What a package says of itself and is not so.
module.exports = {
  hooks: {
    readPackage(file) {
      // Its program is not in its tarball; pnpm warns of each link to it.
      if (file.name === "@20minutes/s3rver") delete file.bin;
      return file;
    },
  },
};

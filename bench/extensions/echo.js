// Answers every message over the channel of `fork` with its fields, and for -1 with the microseconds of the processor that it has taken.
process.on("message", ({ id, fields }) => {
  process.send({ id, ok: true, result: fields.value === -1 ? spent() : fields });
});

function spent() {
  const { user, system } = process.cpuUsage();
  return { value: user + system };
}

process.send({ ready: true });

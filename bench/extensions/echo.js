// Answers every message over the channel of `fork` with its fields.
process.on("message", ({ id, fields }) => process.send({ id, ok: true, result: fields }));
process.send({ ready: true });

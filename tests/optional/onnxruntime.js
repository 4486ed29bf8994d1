// onnxruntime.js JOBS: JOBS is a JSON list of { name, models: [a, b], inputs: [{ name, type, dims, file | strings }] }. Loads
// both models of each job, runs them on the same inputs and prints a line of JSON: { name, outputs, fault, unsupported }.
"use strict";
const fs = require("fs");
const ort = require("onnxruntime-node");

const ARRAYS = { float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array, bool: Uint8Array };

function tensor(input) {
  if (input.strings)
    return new ort.Tensor("string", input.strings, input.dims);
  const bytes = fs.readFileSync(input.file);
  const own = new Uint8Array(bytes).buffer;               // aligned, as typed arrays need it
  return new ort.Tensor(input.type, new ARRAYS[input.type](own), input.dims);
}

function bytesOf(value) {
  const data = value.data;
  return Array.isArray(data) ? Buffer.from(JSON.stringify(data)) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

async function run(model, inputs) {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const feeds = Object.fromEntries(inputs.map((input) => [input.name, tensor(input)]));
  return session.run(feeds);
}

async function main() {
  for (const job of JSON.parse(fs.readFileSync(process.argv[2], "utf8"))) {
    const result = { name: job.name, outputs: 0 };
    let first;
    try {
      first = await run(job.models[0], job.inputs);
    } catch (error) {
      result.unsupported = String(error.message).slice(0, 200);   // of the source: nothing to compare with
    }
    try {
      const second = first && await run(job.models[1], job.inputs);
      for (const name of Object.keys(first || {})) {
        const a = first[name], b = second[name];
        if (String(a.dims) !== String(b.dims) || a.type !== b.type || !bytesOf(a).equals(bytesOf(b)))
          result.fault = "output " + name + " differs";
        result.outputs++;
      }
    } catch (error) {
      result.fault = String(error.message).slice(0, 500);
    }
    console.log(JSON.stringify(result));
  }
}

main();

/** Arrays: {dtype, shape, base64} outside, {dtype, shape, data} inside. */
import { need } from "./errors.js";
import { number } from "./numbers.js";

const KINDS = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

/** The bytes that a text in base64 stands for. */
export const bytesOf = (base64) => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
};

/** What the state holds, with its numbers in a typed array. */
export const decode = ({ dtype, shape, base64 }) => {
  need(dtype in KINDS, `An array of ${dtype} cannot be shown.`, "Give float32, int32 or uint8.");
  const bytes = bytesOf(base64);
  const cells = shape.reduce((product, size) => product * size, 1);
  need(
    cells * KINDS[dtype].BYTES_PER_ELEMENT === bytes.length,
    `An array of shape (${shape}) came as ${bytes.length} bytes.`,
    "Run its cell again.",
  );
  return { dtype, shape, data: new KINDS[dtype](bytes.buffer) };
};

/** The same the other way round. */
export const encode = ({ dtype, shape, data }) => {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192)
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return { dtype, shape: [...shape], base64: btoa(text) };
};

/** An array of numbers that are given in any form. */
export const array = (shape, data, dtype = "float32") => ({
  dtype,
  shape,
  data: data instanceof KINDS[dtype] ? data : KINDS[dtype].from(data),
});

/** Throw a FigureError that names the array and the place, if a number is none. */
export const finite = (name, { data }) => {
  const place = data.findIndex((value) => !Number.isFinite(value));
  need(
    place < 0,
    `${name} holds ${number(data[place])} at place ${place}.`,
    "Give finite numbers, or start again.",
  );
};

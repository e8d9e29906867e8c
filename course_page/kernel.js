/**
 * Products of matrices, for Python in a page: `torch.simd` makes the instructions, and this hands
 * them numbers. They have a memory of their own, because Python's cannot be imported.
 */
const PAGE = 65536;
const aligned = (place) => (place + 15) & ~15;

/** For a Python, a function of instructions that gives a function of addresses in its memory. */
export const kernel = (python) => (bytes) => {
  const memory = new WebAssembly.Memory({ initial: 64 });
  const made = new WebAssembly.Instance(new WebAssembly.Module(bytes), { e: { m: memory } });
  const { gemm } = made.exports;
  let held = new Uint8Array(memory.buffer);
  return (a, b, c, n, k, m, aRow, aColumn, times) => {
    const own = python._module.HEAPU8;
    const [left, right, out] = [n * k * 4, k * m * 4, n * m * 4];
    const atB = aligned(left);
    const atC = aligned(atB + right);
    if (atC + out > held.length) {
      memory.grow(Math.ceil((atC + out - held.length) / PAGE));
      held = new Uint8Array(memory.buffer);
    }
    for (let t = 0; t < times; t += 1) {
      held.set(own.subarray(a + t * left, a + (t + 1) * left), 0);
      held.set(own.subarray(b + t * right, b + (t + 1) * right), atB);
      gemm(0, atB, atC, n, k, m, aRow, aColumn);
      own.set(held.subarray(atC, atC + out), c + t * out);
    }
  };
};

/**
 * AdamW over flat arrays. Source: Loshchilov and Hutter (2019); the same sums as torch.optim.AdamW.
 */
export class AdamW {
  constructor(parameters, { beta1 = 0.9, beta2 = 0.99, decay = 0.01, epsilon = 1e-8 } = {}) {
    Object.assign(this, { parameters, beta1, beta2, decay, epsilon, steps: 0 });
    this.mean = new Float32Array(parameters.size);
    this.square = new Float32Array(parameters.size);
  }

  /** Move every weight against its gradient, with this learning rate. */
  step(rate) {
    const { beta1, beta2, epsilon, mean, square, parameters } = this;
    const { weights, gradients } = parameters;
    this.steps += 1;
    const size = rate / (1 - beta1 ** this.steps);
    const root = 1 / Math.sqrt(1 - beta2 ** this.steps);
    for (const part of parameters.parts) {
      const kept = part.decays ? 1 - rate * this.decay : 1;
      for (let i = part.at; i < part.at + part.size; i++) {
        const gradient = gradients[i];
        const m = beta1 * mean[i] + (1 - beta1) * gradient;
        const v = beta2 * square[i] + (1 - beta2) * gradient * gradient;
        mean[i] = m;
        square[i] = v;
        weights[i] = kept * weights[i] - (size * m) / (Math.sqrt(v) * root + epsilon);
      }
    }
  }
}

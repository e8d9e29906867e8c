/** An error that the reader can mend: what is wrong, and how to go on. */
export class FigureError extends Error {
  constructor(what, remedy) {
    super(what);
    this.remedy = remedy;
  }
}

/** Throw a FigureError unless something holds. */
export const need = (holds, what, remedy) => {
  if (!holds) throw new FigureError(what, remedy);
};

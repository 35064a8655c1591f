/** Numbers the drawings of one part of the page, so that an earlier one that is ready later is dropped. */
export class Turns {
  #last = 0;

  /** Begins a drawing; the returned function is true until the next one begins. */
  begin(): () => boolean {
    this.#last += 1;
    const own = this.#last;
    return () => own === this.#last;
  }
}

/** A service's right to its data directory. */
export interface DirectoryAccess {
  /**
   * Says from now on where the service answers. `onEnd` is called with the reason once another has the directory, or nobody can find
   * the service any more because `isAnnounced` does not hold.
   */
  open(url: string, isAnnounced: () => boolean, onEnd: (reason: string) => void): void;
  /** Says that the service is about to end: others wait for that. */
  closing(): void;
  /** Leaves the directory to the next. */
  release(): void;
  /** Throws when the directory is known to be another's; for reading. */
  check(): void;
  /** Throws unless this service may change the directory now. */
  confirm(): void;
}

/** The access of a service that only reads, because its data directory cannot be written: it needs no lease, and others may hold it. */
export class ReadOnlyAccess implements DirectoryAccess {
  readonly #refusal: unknown;
  #timer: NodeJS.Timeout | undefined;

  /** `refusal`: why nothing can be written. */
  constructor(refusal: unknown) {
    this.#refusal = refusal;
  }

  open(_url: string, isAnnounced: () => boolean, onEnd: (reason: string) => void): void {
    this.#timer = setInterval(() => {
      if (!isAnnounced()) onEnd(unannounced);
    }, usualBeatMs).unref();
  }

  closing(): void {
    clearInterval(this.#timer);
  }

  release(): void {}

  check(): void {}

  confirm(): void {
    throw this.#refusal;
  }
}

/** How often a service looks whether it still has its place, in milliseconds. */
export const usualBeatMs = 2_000;

/** Why a service ends that nobody finds. */
export const unannounced = 'the runtime file is gone or belongs to another service';

/** A service's access to its data directory. */
export interface DirectoryAccess {
  /**
   * Announces the address of the service from now on. `onEnd` is called with the reason once another service has the directory, or the
   * service cannot be found because `isAnnounced` no longer holds.
   */
  open(url: string, isAnnounced: () => boolean, onEnd: (reason: string) => void): void;
  /** Announces that the service is about to end, which others wait for. */
  closing(): void;
  /** Releases the directory to the next service. */
  release(): void;
  /** Throws if the directory is known to belong to another service; for reading. */
  check(): void;
  /** Throws unless this service may change the directory now. */
  confirm(): void;
}

/** Access of a read-only service, whose data directory cannot be written: it needs no lease, and others may hold it. */
export class ReadOnlyAccess implements DirectoryAccess {
  readonly #refusal: unknown;
  #timer: NodeJS.Timeout | undefined;

  /** `refusal`: the reason why nothing can be written. */
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

/** Interval at which a service checks that it still owns its place, in milliseconds. */
export const usualBeatMs = 2_000;

/** Reason for ending a service that cannot be found. */
export const unannounced = 'the runtime file is missing or belongs to another service';

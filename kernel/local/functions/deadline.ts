/** A call took longer than allowed. */
export class OverdueError extends Error {}

const mostMs = 1_000;

/** Returns a check that throws an OverdueError once a second has passed: for loops whose length the arguments do not bound. */
export function deadline(): () => void {
  const until = performance.now() + mostMs;
  return () => {
    if (performance.now() > until) throw new OverdueError('the call takes too long');
  };
}

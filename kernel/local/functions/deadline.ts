/** A call has taken longer than any may. */
export class OverdueError extends Error {}

const mostMs = 1_000;

/** Returns what throws an OverdueError once a second has passed: for loops whose length the arguments do not tell. */
export function deadline(): () => void {
  const until = performance.now() + mostMs;
  return () => {
    if (performance.now() > until) throw new OverdueError('the call takes too long');
  };
}

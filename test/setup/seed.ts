import fc from 'fast-check';

/** Random inputs are the same in every run, so that a commit passes or fails on its own merits; RANDOM_SEED=… changes them. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.RANDOM_SEED ?? 1) });
